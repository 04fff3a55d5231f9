/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by (key, group): the groups are what differs by chance from one to the next, and so what
   an interval is estimated from (ratio.h).

   They are the boards, while these are 64 or fewer; more fall into 32 fixed groups by a hash of
   their names; and a single board's are stretches of its time, as are those of several boards
   where the answer is about these boards alone (IS_OF_TIMES).  What a key is the caller says:
   the node of a tree, a thread, an edge. */
#ifndef VIEW_GROUPS_H
#define VIEW_GROUPS_H

#include "evidence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
  GROUPS_MAX = 64,        /* boards */
  GROUPS_HASHED_MAX = 32, /* of more boards */
  GROUPS_TIMES_MAX = 64,  /* stretches of time */
  GROUPS_TIMES_MIN = 5,   /* fewer tell too little of how they differ */
  GROUPS_KEPT_MIN = 4,    /* when memory is short there are not made fewer than this */
  GROUPS_KEYS_MAX = 2 << 20,
  GROUPS_CHUNK_KEYS = 2048,
  GROUPS_CHUNKS_MAX = 4096, /* 64 MiB; where that is too little groups are made fewer */
};

enum groups_kind { GROUPS_NONE, GROUPS_TIMES, GROUPS_BOARDS, GROUPS_HASHED };

/* What one board has in one stretch of time. */
struct group_cell {
  uint64_t weight;            /* of all keys */
  uint64_t first_ms, last_ms; /* from its first window's start to its last one's end; 0: none */
};

struct group {
  uint64_t id;       /* the number of the stretch; the hash of the board; that modulo MODULUS */
  uint64_t weight;   /* of all keys */
  uint64_t **chunks; /* of GROUPS_CHUNK_KEYS weights each, by key; NULL: none has any */
  uint32_t room;     /* chunks */
  struct evidence evidence; /* of the samples among them, if the caller adds it */
  uint32_t boards;          /* HASHED: in the group, set by the caller; 0: unknown */
  struct group_cell *cells; /* TIMES: of each of the groups' BOARDS */
  uint32_t cell_room;
};

/* All-zero is empty, and takes memory of its own. */
struct groups {
  struct arena *arena; /* where memory comes from, or NULL */
  enum groups_kind kind;
  bool is_off;     /* there was no memory for the fewest of them */
  bool has_failed; /* a turn found no memory: groups_add says so */
  /* Set by the caller before the first turn, at most one: boards are not distinguished; times are
     not, even of a single board. */
  bool is_of_times, is_of_boards;
  unsigned count, current;
  struct group group[GROUPS_MAX];
  uint64_t modulus;            /* HASHED */
  uint64_t board, length_ms;   /* TIMES: whose (the first one's), and of a stretch */
  uint64_t boards[GROUPS_MAX]; /* TIMES: whose cells there are: hashes, or these modulo this: */
  uint64_t boards_modulus;     /* 0: none */
  unsigned board_count, current_board;
  uint64_t first_ms, last_ms; /* from the first turn's start to the last one's end; 0: none */
  void *spare;                /* chunks that merging has left over */
  uint32_t chunk_count;
};

/* What is added next is from BOARD's window START_MS..END_MS.  The numbers of groups change with
   it: until the last turn they mean nothing. */
void groups_turn(struct groups *groups, const char *board, uint64_t start_ms, uint64_t end_ms);

/* What is added next is from boards whose names' hash is GROUP modulo GROUPS_HASHED_MAX, added up,
   between START_MS and END_MS. */
void groups_turn_merged(struct groups *groups, unsigned group, uint64_t start_ms, uint64_t end_ms);

/* Adds WEIGHT to KEY; nothing before the first turn.  Returns 0; -EOVERFLOW for a key that is not
   below GROUPS_KEYS_MAX; or -ENOMEM. */
int groups_add(struct groups *groups, uint32_t key, uint64_t weight);

/* Adds MORE, the evidence of samples, to the current group; nothing before the first turn. */
void groups_add_evidence(struct groups *groups, const struct evidence *more);

/* Whether what both have is of the same groups, in the same order: where the same turns were taken
   and there was memory for both. */
bool groups_are_alike(const struct groups *a, const struct groups *b);

/* Frees all, unless it is in an arena. */
void groups_fini(struct groups *groups);

/* Sets RET to the weights of KEY, and of all keys together, in each of the COUNT groups; returns
   that of KEY in one. */
void groups_weights(const struct groups *groups, uint32_t key, uint64_t ret[GROUPS_MAX]);
uint64_t groups_weight(const struct groups *groups, unsigned group, uint32_t key);
void groups_totals(const struct groups *groups, uint64_t ret[GROUPS_MAX]);

#endif
