/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees of a function, from stacks and from checked pairs. Pure. */
#ifndef LINKED_EDGES_H
#define LINKED_EDGES_H

#include "pair_links.h"

#include "view/ratio.h"
#include "view/view.h"

enum edge_kind { EDGE_STACK, EDGE_LR, EDGE_KINDS };
enum edge_side { EDGE_CALLERS, EDGE_CALLEES };

enum {
  /* Minimum of resolvable samples of a function for extrapolation. At this number the interval of a
     caller with half of them still spans 17 points to either side. */
  EDGES_RESOLVABLE_MIN = 30,
};

/* Values in place of a function at the other end. */
enum {
  EDGE_UNRESOLVED = UINT32_MAX, /* unresolved pairs that were not extrapolated */
  EDGE_NOBODY = UINT32_MAX - 1, /* stacks that begin with the function */
  EDGE_ITSELF = UINT32_MAX - 2, /* time in the function's own code, outside its calls */
};

struct edge {
  uint32_t function; /* at the other end; or one of the above */
  enum edge_kind kind;
  wide_sum measured, extrapolated; /* weights; only EDGE_LR has extrapolated weight */
  uint64_t count;                  /* measured samples */
  struct view_share share;         /* of the answer's total */
};

struct edge_question {
  const struct view_tree *tree;   /* from stacks alone */
  const struct pair_links *pairs; /* by the tree's functions */
  const bool *is_asked;           /* by function of the tree: whether it is one in question */
  enum edge_side side;
};

struct edge_part {
  wide_sum weight;
  uint64_t count; /* of samples, including extrapolated ones */
};

struct edge_answer {
  struct edge *edges; /* heaviest first */
  uint32_t edge_count;
  wide_sum total_weight;
  uint64_t total_count;
  struct evidence evidence;
  struct edge_part parts[EDGE_KINDS];
  struct ratio basis; /* of the intervals: all edges by sampling unit */
  /* Weights of the pairs in the function, or, for callees, in its callees: */
  wide_sum rung_weight[PAIR_RUNGS], outside_weight, refuted_weight, unseen_weight, tangled_weight;
  wide_sum refused_weight; /* unresolved, of functions with too few resolved samples */
};

/* Answers QUESTION in ARENA. The edges' weights add up to total_weight. For callers each stack
   counts with the last edge into the function, for callees with the last one out of it. So a
   recursive function is its own caller, and each stack counts once. Returns 0 or -ENOMEM. */
int edges_find(const struct edge_question *question, struct arena *arena, struct edge_answer *ret);

#endif
