/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by (key, group): the groups are what differs by chance from one to the next, and so what
   an interval is estimated from (ratio.h).

   They are the boards, while these are 64 or fewer; more fall into 64 fixed groups by a hash of
   their names; and a single board's are stretches of its time.  What a key is the caller says:
   the node of a tree, a thread, an edge. */
#ifndef VIEW_GROUPS_H
#define VIEW_GROUPS_H

#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
  GROUPS_MAX = 64,       /* boards, or groups of them */
  GROUPS_TIMES_MAX = 16, /* stretches of time */
  GROUPS_TIMES_MIN = 5,  /* fewer tell too little of how they differ */
  GROUPS_KEPT_MIN = 8,   /* when memory is short there are not made fewer than this */
  GROUPS_BYTES_MAX = 160 << 20,
  GROUPS_CELLS_MAX = 4 << 20, /* (key, group) pairs in a copy */
};

enum groups_kind { GROUPS_NONE, GROUPS_TIMES, GROUPS_BOARDS, GROUPS_HASHED };

struct group {
  uint64_t id;       /* the number of the stretch; the hash of the board; that modulo MODULUS */
  uint64_t weight;   /* of all keys */
  uint64_t *weights; /* by key; those from ROOM on have none */
  uint32_t room;
};

/* All-zero is empty. */
struct groups {
  enum groups_kind kind;
  unsigned count, current;
  struct group group[GROUPS_MAX];
  uint64_t modulus;          /* HASHED */
  uint64_t board, length_ms; /* TIMES: whose, and of a stretch */
  size_t bytes;
};

/* What is added next is from BOARD's window START_MS..END_MS.  The numbers of groups change with
   it: until the last turn they mean nothing. */
void groups_turn(struct groups *groups, const char *board, uint64_t start_ms, uint64_t end_ms);

/* Adds WEIGHT to KEY; nothing before the first turn.  Returns 0 or -ENOMEM. */
int groups_add(struct groups *groups, uint32_t key, uint64_t weight);
void groups_fini(struct groups *groups);

/* Sets RET to the weights of KEY, and of all keys together, in each of the COUNT groups. */
void groups_weights(const struct groups *groups, uint32_t key, uint64_t ret[GROUPS_MAX]);
void groups_totals(const struct groups *groups, uint64_t ret[GROUPS_MAX]);

/* Groups that do not grow any more: the keys with weight alone, in order. */
struct view_group {
  uint64_t id, weight;
  uint32_t cell_count;
  const uint32_t *keys;
  const uint64_t *weights;
};

struct view_groups {
  enum groups_kind kind;
  unsigned count;
  uint64_t modulus;
  struct view_group group[GROUPS_MAX];
};

/* Copies GROUPS into ARENA, made fewer where they have more than GROUPS_CELLS_MAX.  Returns 0 or
   -ENOMEM. */
int groups_copy(struct groups *groups, struct arena *arena, struct view_groups *ret);

#endif
