/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for tests with the shape of real ones (a call tree, few modules, Zipf-like counts), from
   a seed, so a failure can be reproduced. */
#ifndef TESTS_RANDOM_BATCH_FIXTURE_H
#define TESTS_RANDOM_BATCH_FIXTURE_H

#include "proto/batch.h"

struct random_sizes {
  uint32_t modules, targets, threads, nodes, samples, depth;
};

struct random_batch {
  struct batch batch;
  struct batch_module *modules;
  struct batch_target *targets;
  struct batch_thread *threads;
  struct batch_node *nodes;
  struct batch_sample *samples;
};

extern const uint8_t random_ids[20]; /* the build-id of every module that has one */

/* A small generator of our own: the same batch on every machine. */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);

void random_batch_make(struct random_batch *made, const struct random_sizes *sizes, uint64_t seed);
void random_batch_fini(struct random_batch *made);

#endif
