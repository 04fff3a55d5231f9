/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered places for connections.

   A job refers to its session by number, since the session may have ended when the job comes back:
   the low half of the number is a place, the high half says how often that place was given out, so
   an old number never finds a new connection.  Places grow by doubling up to LIMIT_CONNECTIONS and
   free ones are chained; there is no hash to attack. */
#include "roster.h"

#include "proto/limits.h"

#include <stdlib.h>

enum { ROSTER_FIRST = 64 };

struct roster_slot {
  struct connection *connection;
  uint32_t turn;      /* how often it was given out; odd while it is taken */
  uint32_t next_free; /* index + 1 */
};

void roster_fini(struct roster *roster) {
  free(roster->slots);
  *roster = (struct roster){0};
}

static bool grow(struct roster *roster) {
  uint32_t cap = roster->cap ? 2 * roster->cap : ROSTER_FIRST;
  if (cap > LIMIT_CONNECTIONS) cap = LIMIT_CONNECTIONS;
  if (cap == roster->cap) return false;
  struct roster_slot *slots = realloc(roster->slots, cap * sizeof *slots);
  if (slots == NULL) return false;
  for (uint32_t i = cap; i > roster->cap; i--) {
    slots[i - 1] = (struct roster_slot){.next_free = roster->first_free};
    roster->first_free = i;
  }
  roster->slots = slots;
  roster->cap = cap;
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

/* Returns the place that ID still holds, or NULL. */
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
  slot->turn++;
  slot->connection = NULL;
  slot->next_free = roster->first_free;
  roster->first_free = (uint32_t)id + 1;
  roster->count--;
}

struct connection *roster_find(const struct roster *roster, uint64_t id) {
  struct roster_slot *slot = slot_of(roster, id);
  return slot ? slot->connection : NULL;
}

struct connection *roster_at(const struct roster *roster, uint32_t index) {
  return roster->slots[index].connection;
}
