/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of a made-up fleet: boards with true shares of their own, and samples drawn from these. */
#ifndef TESTS_VIEW_FLEET_FIXTURE_H
#define TESTS_VIEW_FLEET_FIXTURE_H

#include "random_fixture.h"

#include "common/arena.h"
#include "view/tree_builder.h"

enum { FLEET_FUNCTIONS_MAX = 256, FLEET_HOUR = 99 * 3600 };

struct fleet {
  struct random *random;
  unsigned functions;
  struct arena arena;
  struct tree_builder builder;
  uint32_t nodes[FLEET_FUNCTIONS_MAX]; /* "f0", "f1", ... */
  struct view_tree tree;
};

void fleet_init(struct fleet *fleet, struct random *random, unsigned functions);

/* Draws SAMPLES of BOARD's between START_MS and END_MS, of function i with the chance SHARES[i],
   which add up to 1. */
void fleet_add(struct fleet *fleet, unsigned board, uint64_t start_ms, uint64_t end_ms,
               uint64_t samples, const double *shares);

/* Adds unsampled time, equal to SAMPLES samples, to the last addition. */
void fleet_add_unsampled(struct fleet *fleet, double samples);

/* Makes the tree. */
void fleet_end(struct fleet *fleet);
void fleet_fini(struct fleet *fleet);

/* The self share of "f0" with its interval, as the function table has it. */
struct view_share fleet_share(struct fleet *fleet);

#endif
