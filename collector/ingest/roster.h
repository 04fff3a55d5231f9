/* SPDX-License-Identifier: Apache-2.0 */
/* All open connections, by a number that is never reused. */
#ifndef INGEST_ROSTER_H
#define INGEST_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct roster_slot;

/* All-zero is empty. */
struct roster {
  struct roster_slot *slots;
  uint32_t *named; /* CAP lists of slots by their boards' names: index + 1; 0: none */
  uint64_t seed;   /* of the hash of names */
  uint32_t cap, count;
  uint32_t first_free; /* index + 1; 0: none */
};

void roster_fini(struct roster *roster);

/* Takes a free slot and returns its number, or 0 if LIMIT_CONNECTIONS are taken or memory is out.
   The slot is empty until roster_set. */
uint64_t roster_add(struct roster *roster);
void roster_set(struct roster *roster, uint64_t id, struct connection *connection);
void roster_remove(struct roster *roster, uint64_t id);

/* Records once that connection ID is of BOARD. Returns the number of other connections of BOARD. */
uint32_t roster_set_board(struct roster *roster, uint64_t id, const char *board);

/* Iterates over the connections of BOARD, and of others whose name has the same hash. AT is 0 at
   first; do not change it afterwards. Returns NULL after the last. */
struct connection *roster_next_of(const struct roster *roster, const char *board, uint32_t *at);

/* Returns the connection with number ID, or NULL if it has ended. */
struct connection *roster_find(const struct roster *roster, uint64_t id);

/* Returns the connection in slot INDEX (below `cap`), or NULL if the slot is free. */
struct connection *roster_at(const struct roster *roster, uint32_t index);

#endif
