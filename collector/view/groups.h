/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by (key, group). Groups are the units that vary by chance; intervals are estimated from
   them (ratio.h).

   Groups are the boards if there are at most 64. More boards form 32 fixed groups by a hash of
   their names. Groups of a single board are stretches of its time, as are those of several boards
   if the answer is only about these boards (IS_OF_TIMES). The caller defines the keys: nodes of a
   tree, threads, edges. */
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
  GROUPS_TIMES_MIN = 5,   /* fewer do not show their variation */
  GROUPS_KEPT_MIN = 4,    /* a shortage of memory does not reduce groups below this number */
  GROUPS_KEYS_MAX = 2 << 20,
  GROUPS_CHUNK_KEYS = 2048,
  GROUPS_CHUNKS_MAX = 4096, /* 64 MiB; at this limit the number of groups is reduced */
};

enum groups_kind { GROUPS_NONE, GROUPS_TIMES, GROUPS_BOARDS, GROUPS_HASHED };

/* One board's data in one stretch of time. */
struct group_cell {
  uint64_t weight;            /* of all keys */
  uint64_t first_ms, last_ms; /* from its first window's start to its last window's end; 0: none */
};

struct group {
  uint64_t id;              /* number of the stretch; hash of the board; that modulo MODULUS */
  uint64_t weight;          /* of all keys */
  uint64_t **chunks;        /* of GROUPS_CHUNK_KEYS weights each, by key; NULL: all zero */
  uint32_t room;            /* number of chunks */
  struct evidence evidence; /* of its samples, if the caller adds it */
  uint32_t boards;          /* HASHED: number in the group, set by the caller; 0: unknown */
  struct group_cell *cells; /* TIMES: one for each of the groups' BOARDS */
  uint32_t cell_room;
};

/* All-zero is empty and allocates its own memory. */
struct groups {
  struct arena *arena; /* source of memory, or NULL */
  enum groups_kind kind;
  bool is_off;     /* memory did not suffice for the smallest number of groups */
  bool has_failed; /* a turn found no memory; groups_add reports it */
  /* Set by the caller before the first turn, at most one of them. is_of_times: do not distinguish
     boards. is_of_boards: do not distinguish times, even of a single board. */
  bool is_of_times, is_of_boards;
  unsigned count, current;
  struct group group[GROUPS_MAX];
  uint64_t modulus;            /* HASHED */
  uint64_t board, length_ms;   /* TIMES: the first board, and the length of a stretch */
  uint64_t boards[GROUPS_MAX]; /* TIMES: boards of the cells, as hashes modulo BOARDS_MODULUS */
  uint64_t boards_modulus;     /* 0: plain hashes */
  unsigned board_count, current_board;
  uint64_t first_ms, last_ms; /* from the first turn's start to the last turn's end; 0: none */
  void *spare;                /* chunks left over by merging */
  uint32_t chunk_count;
};

/* Assigns the following weights to BOARD's window START_MS..END_MS. Group numbers may change with
   each turn; they are meaningless before the last. */
void groups_turn(struct groups *groups, const char *board, uint64_t start_ms, uint64_t end_ms);

/* Assigns the following weights to pre-merged boards, with hash(name) % GROUPS_HASHED_MAX == GROUP,
   between START_MS and END_MS. */
void groups_turn_merged(struct groups *groups, unsigned group, uint64_t start_ms, uint64_t end_ms);

/* Adds WEIGHT to KEY. Before the first turn it does nothing. Returns 0; -EOVERFLOW if KEY is not
   below GROUPS_KEYS_MAX; or -ENOMEM. */
int groups_add(struct groups *groups, uint32_t key, uint64_t weight);

/* Adds MORE, the evidence of samples, to the current group. Before the first turn it does
   nothing. */
void groups_add_evidence(struct groups *groups, const struct evidence *more);

/* Returns whether A and B have the same groups in the same order. They do after the same turns if
   memory sufficed for both. */
bool groups_are_alike(const struct groups *a, const struct groups *b);

/* Frees all memory that is not in an arena. */
void groups_fini(struct groups *groups);

/* groups_weights and groups_totals set RET to the weights of KEY, and of all keys, in each of the
   COUNT groups. groups_weight returns that of KEY in one group. */
void groups_weights(const struct groups *groups, uint32_t key, uint64_t ret[GROUPS_MAX]);
uint64_t groups_weight(const struct groups *groups, unsigned group, uint32_t key);
void groups_totals(const struct groups *groups, uint64_t ret[GROUPS_MAX]);

#endif
