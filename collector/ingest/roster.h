/* SPDX-License-Identifier: Apache-2.0 */
/* All open connections, by a number that is never used twice. */
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
  uint64_t seed;   /* of where a name belongs */
  uint32_t cap, count;
  uint32_t first_free; /* index + 1; 0: none */
};

void roster_fini(struct roster *roster);

/* Takes a free place and returns its number, or 0 when LIMIT_CONNECTIONS are taken or memory ran
   out.  The place is empty until roster_set. */
uint64_t roster_add(struct roster *roster);
void roster_set(struct roster *roster, uint64_t id, struct connection *connection);
void roster_remove(struct roster *roster, uint64_t id);

/* Notes that connection ID is of BOARD, once.  Returns how many others are. */
uint32_t roster_set_board(struct roster *roster, uint64_t id, const char *board);

/* Walks the connections of BOARD, or of another whose name has the same hash: AT is 0 at first, and
   is to be left alone then.  Returns NULL after the last. */
struct connection *roster_next_of(const struct roster *roster, const char *board, uint32_t *at);

/* Returns the connection with number ID, or NULL when it is gone. */
struct connection *roster_find(const struct roster *roster, uint64_t id);

/* Returns the connection at place INDEX (below `cap`), or NULL when the place is free. */
struct connection *roster_at(const struct roster *roster, uint32_t index);

#endif
