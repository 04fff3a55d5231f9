/* SPDX-License-Identifier: Apache-2.0 */
/* An answer in the making: what edges.c adds up, and edge_units.c adds up again by sampling unit.
 */
#ifndef LINKED_FINDING_H
#define LINKED_FINDING_H

#include "edges.h"

/* Of the edge to one other end. */
struct sum {
  wide_sum measured, extrapolated;
  uint64_t count;
  struct evidence evidence;
  double in_unit, variance; /* of edge_units.c */
};

/* Weights of the pairs of one function, where it is not inlined. */
struct mix {
  wide_sum resolved, unresolved;
  wide_sum unresolved_leaf; /* of these its own code was running */
};

struct mixed {
  struct mix all, in_unit;
  wide_sum passed;          /* resolved weight of the callers that were looked at */
  struct evidence evidence; /* of the resolved ones */
  bool has_route;           /* some link of it has */
};

/* What is extrapolated by a link besides its own weight: its share of nothing, of its callee's
   unresolved weight, or of that part in which the callee's own code was running. */
enum pool { POOL_NONE, POOL_ALL, POOL_LEAF };

/* Where a link's weight goes.  With POOL_LEAF what is extrapolated is taken from EDGE_ITSELF, where
   all of it has been added. */
struct route {
  bool is_any;
  uint32_t end;
  enum pool pool;
};

/* A node of stacks with weight of its own, and the edge that this goes to. */
struct standing {
  uint32_t node, end;
};

struct finding {
  const struct edge_question *question;
  struct edge_answer answer;
  uint32_t function_count;
  struct sum *sums[EDGE_KINDS]; /* a function each, then the three that are none */
  struct mixed *mixed;          /* one a function */
  struct standing *standing;
  uint32_t standing_count;
  uint32_t *links; /* of callees that have a route, by place in the question's pairs */
  uint32_t link_count;
};

struct sum *finding_sum(const struct finding *finding, enum edge_kind kind, uint32_t function);
struct route finding_route(const struct finding *finding, const struct pair_link *link);

/* Adds LINK's weight to MIX, unless it is inlined. */
void finding_mix(struct mix *mix, const struct pair_link *link, wide_sum weight);

static inline wide_sum finding_pool(const struct mix *mix, enum pool pool) {
  if (pool == POOL_NONE) return 0;
  return pool == POOL_ALL ? mix->unresolved : mix->unresolved_leaf;
}

/* Sets the variance of the share of each of ANSWER's listed edges (ratio_interval) in their sums,
   and RATIO to what the answer's whole is in each sampling unit. */
void edge_units_spread(struct finding *finding, struct ratio *ratio);

#endif
