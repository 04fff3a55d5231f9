/* SPDX-License-Identifier: Apache-2.0 */
/* An answer under construction: sums that edges.c computes, and edge_units.c computes again by
   sampling unit. */
#ifndef LINKED_FINDING_H
#define LINKED_FINDING_H

#include "edges.h"

/* Sums of the edge to one other end. */
struct sum {
  wide_sum measured, extrapolated;
  uint64_t count;
  struct evidence evidence;
  double in_unit, variance; /* of edge_units.c */
};

/* Weights of the pairs of one function, excluding inlined ones. */
struct mix {
  wide_sum resolved, unresolved;
  wide_sum unresolved_leaf; /* the part with its own code running */
};

struct mixed {
  struct mix all, in_unit;
  wide_sum passed;          /* resolved weight of the callers so far */
  struct evidence evidence; /* of the resolved pairs */
  bool has_route;           /* at least one of its links has a route */
};

/* Weight that a link extrapolates beyond its own: none, a share of its callee's unresolved weight,
   or of the part of it with the callee's own code running. */
enum pool { POOL_NONE, POOL_ALL, POOL_LEAF };

/* Destination of a link's weight. With POOL_LEAF the extrapolated weight is subtracted from
   EDGE_ITSELF, to which it was added before. */
struct route {
  bool is_any;
  uint32_t end;
  enum pool pool;
};

/* A node of stacks with weight of its own, and the edge for that weight. */
struct standing {
  uint32_t node, end;
};

struct finding {
  const struct edge_question *question;
  struct edge_answer answer;
  uint32_t function_count;
  struct sum *sums[EDGE_KINDS]; /* one for each function, then the three special ends */
  struct mixed *mixed;          /* one for each function */
  struct standing *standing;
  uint32_t standing_count;
  uint32_t *links; /* of callees that have a route, by index in the question's pairs */
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

/* Sets the variance of the share of each listed edge (ratio_interval) in its sum, and RATIO to the
   answer's whole in each sampling unit. */
void edge_units_spread(struct finding *finding, struct ratio *ratio);

#endif
