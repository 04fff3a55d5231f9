/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees of a function, from stacks and from judged pairs.  Pure. */
#ifndef LINKED_EDGES_H
#define LINKED_EDGES_H

#include "pair_links.h"

#include "view/ratio.h"
#include "view/view.h"

enum edge_kind { EDGE_STACK, EDGE_LR, EDGE_KINDS };
enum edge_side { EDGE_CALLERS, EDGE_CALLEES };

enum {
  /* Resolvable samples of a function below which nothing is extrapolated: at this number the
     interval of a caller with half of them is still 17 points wide to either side. */
  EDGES_RESOLVABLE_MIN = 30,
};

/* In the place of a function at the other end. */
enum {
  EDGE_UNRESOLVED = UINT32_MAX, /* pairs of which nobody knows, and that nothing was made of */
  EDGE_NOBODY = UINT32_MAX - 1, /* stacks that begin with the function */
  EDGE_ITSELF = UINT32_MAX - 2, /* time in the function's own code, in no call of it */
};

struct edge {
  uint32_t function; /* at the other end; or one of the above */
  enum edge_kind kind;
  wide_sum measured, extrapolated; /* weights; with `lr` alone is anything extrapolated */
  uint64_t count;                  /* samples that were measured */
  struct view_share share;         /* of the answer's total */
};

struct edge_question {
  const struct view_tree *tree;   /* of stacks alone */
  const struct pair_links *pairs; /* by the tree's functions */
  const bool *is_asked;           /* one a function of the tree: these are meant, as one */
  enum edge_side side;
};

struct edge_part {
  wide_sum weight;
  uint64_t count; /* of the samples, extrapolated included */
};

struct edge_answer {
  struct edge *edges; /* heaviest first */
  uint32_t edge_count;
  wide_sum total_weight;
  uint64_t total_count;
  struct evidence evidence;
  struct edge_part parts[EDGE_KINDS];
  struct ratio basis; /* of the intervals: what the sampling units have of all edges */
  /* Of the pairs in the function, or, of callees, in the functions that they are in: */
  wide_sum rung_weight[PAIR_RUNGS], outside_weight, refuted_weight, unseen_weight, tangled_weight;
  wide_sum refused_weight; /* unresolved, of functions with too few that are not */
};

/* Answers QUESTION in ARENA.  The edges' weights add up to total_weight: of callers each stack
   counts with the last edge into the function, of callees with the last one out of it; so a
   function that called itself is its own caller, and each stack counts once.  Returns 0 or
   -ENOMEM. */
int edges_find(const struct edge_question *question, struct arena *arena, struct edge_answer *ret);

#endif
