/* SPDX-License-Identifier: Apache-2.0 */
/* A table of connections.

   A job refers to its session by number, since the session may have ended when the job returns. The
   low half of the number is a slot, the high half the slot's use count, so an old number never
   finds a new connection. The table grows by doubling up to LIMIT_CONNECTIONS, and free slots are
   chained.

   The slots of a board are found by a hash of its name: without it, a fleet that reconnects all at
   once would take quadratic time. Names are from certificates and boards cannot choose them, but
   the hash is seeded all the same. */
#include "roster.h"

#include "common/table.h"
#include "proto/limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ROSTER_FIRST = 64 };

struct roster_slot {
  struct connection *connection;
  uint32_t turn;      /* incremented when taken and when freed; odd while taken */
  uint32_t next_free; /* index + 1 */
  uint32_t next_named;
  uint64_t name; /* hash of its board's name; 0: none */
};

void roster_fini(struct roster *roster) {
  free(roster->slots);
  free(roster->named);
  *roster = (struct roster){0};
}

static uint32_t *list_of(const struct roster *roster, uint64_t name) {
  return &roster->named[name % roster->cap];
}

static void link_name(struct roster *roster, uint32_t index) {
  uint32_t *list = list_of(roster, roster->slots[index].name);
  roster->slots[index].next_named = *list;
  *list = index + 1;
}

static void unlink_name(struct roster *roster, uint32_t index) {
  uint32_t *at = list_of(roster, roster->slots[index].name);
  while (*at != index + 1) at = &roster->slots[*at - 1].next_named;
  *at = roster->slots[index].next_named;
  roster->slots[index].name = 0;
}

/* Rebuilds the lists, one for each slot. */
static void link_names(struct roster *roster) {
  memset(roster->named, 0, roster->cap * sizeof *roster->named);
  for (uint32_t i = 0; i < roster->cap; i++)
    if (roster->slots[i].name != 0) link_name(roster, i);
}

static bool grow(struct roster *roster) {
  uint32_t cap = roster->cap ? 2 * roster->cap : ROSTER_FIRST;
  if (cap > LIMIT_CONNECTIONS) cap = LIMIT_CONNECTIONS;
  if (cap == roster->cap) return false;
  if (roster->cap == 0 && getrandom(&roster->seed, sizeof roster->seed, 0) < 0) return false;
  uint32_t *named = realloc(roster->named, cap * sizeof *named);
  if (named == NULL) return false;
  roster->named = named;
  struct roster_slot *slots = realloc(roster->slots, cap * sizeof *slots);
  if (slots == NULL) return false;
  for (uint32_t i = cap; i > roster->cap; i--) {
    slots[i - 1] = (struct roster_slot){.next_free = roster->first_free};
    roster->first_free = i;
  }
  roster->slots = slots;
  roster->cap = cap;
  link_names(roster);
  return true;
}

uint64_t roster_add(struct roster *roster) {
  if (roster->first_free == 0 && !grow(roster)) return 0;
  uint32_t index = roster->first_free - 1;
  struct roster_slot *slot = &roster->slots[index];
  roster->first_free = slot->next_free;
  slot->turn++;
  slot->connection = NULL;
  roster->count++;
  return (uint64_t)slot->turn << 32 | index;
}

/* Returns the slot that ID still holds, or NULL. */
static struct roster_slot *slot_of(const struct roster *roster, uint64_t id) {
  uint32_t index = (uint32_t)id, turn = (uint32_t)(id >> 32);
  if (index >= roster->cap || turn % 2 == 0 || roster->slots[index].turn != turn) return NULL;
  return &roster->slots[index];
}

void roster_set(struct roster *roster, uint64_t id, struct connection *connection) {
  struct roster_slot *slot = slot_of(roster, id);
  if (slot != NULL) slot->connection = connection;
}

void roster_remove(struct roster *roster, uint64_t id) {
  struct roster_slot *slot = slot_of(roster, id);
  if (slot == NULL) return;
  if (slot->name != 0) unlink_name(roster, (uint32_t)id);
  slot->turn++;
  slot->connection = NULL;
  slot->next_free = roster->first_free;
  roster->first_free = (uint32_t)id + 1;
  roster->count--;
}

static uint64_t hash_name(const struct roster *roster, const char *board) {
  return table_hash(board, strlen(board), roster->seed) | 1;
}

uint32_t roster_set_board(struct roster *roster, uint64_t id, const char *board) {
  struct roster_slot *slot = slot_of(roster, id);
  uint32_t others = 0;
  if (slot == NULL || slot->name != 0) return 0;
  uint64_t name = hash_name(roster, board);
  for (uint32_t at = *list_of(roster, name); at != 0; at = roster->slots[at - 1].next_named)
    others += roster->slots[at - 1].name == name;
  slot->name = name;
  link_name(roster, (uint32_t)id);
  return others;
}

struct connection *roster_next_of(const struct roster *roster, const char *board, uint32_t *at) {
  uint64_t name = hash_name(roster, board);
  if (roster->cap == 0) return NULL;
  uint32_t next = *at == 0 ? *list_of(roster, name) : roster->slots[*at - 1].next_named;
  while (next != 0 && roster->slots[next - 1].name != name)
    next = roster->slots[next - 1].next_named;
  *at = next;
  return next != 0 ? roster->slots[next - 1].connection : NULL;
}

struct connection *roster_find(const struct roster *roster, uint64_t id) {
  struct roster_slot *slot = slot_of(roster, id);
  return slot ? slot->connection : NULL;
}

struct connection *roster_at(const struct roster *roster, uint32_t index) {
  return roster->slots[index].connection;
}
