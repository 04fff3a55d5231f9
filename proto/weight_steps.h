/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of a batch's samples, as few numbers.  For batch_encoder.c. */
#ifndef PROTO_WEIGHT_STEPS_H
#define PROTO_WEIGHT_STEPS_H

#include "batch.h"

struct pack;

/* How far a weight is from count * weight_a_record. */
struct weight_step {
  uint64_t distance; /* wraps */
  uint32_t samples;  /* that have it */
  uint32_t cell;     /* what stands for it in a column: its place among the steps by use */
};

struct weight_steps {
  uint64_t weight_a_record;
  uint32_t count;
  struct weight_step *by_distance;
  const struct weight_step **by_use; /* the most used first */
};

/* Finds the steps of BATCH's samples into RET, whose arrays live in PACK, where errors are
   remembered: -ENOMEM.  weight_a_record is the one that most samples have, 0 without samples. */
void weight_steps_find(struct pack *pack, const struct batch *batch, struct weight_steps *ret);

/* Returns the cell of SAMPLE, one of those that STEPS were found of. */
uint32_t weight_steps_cell(const struct weight_steps *steps, const struct batch_sample *sample);

#endif
