/* SPDX-License-Identifier: Apache-2.0 */
/* A batch's weights, encoded as few distinct numbers. For batch_encoder.c. */
#ifndef PROTO_WEIGHT_STEPS_H
#define PROTO_WEIGHT_STEPS_H

#include "batch.h"

struct pack;

/* The distance of a weight from count * weight_a_record. */
struct weight_step {
  uint64_t distance; /* wraps */
  uint32_t samples;  /* number of samples with it */
  uint32_t cell;     /* its value in a column: its index among the steps by use */
};

struct weight_steps {
  uint64_t weight_a_record;
  uint32_t count;
  struct weight_step *by_distance;
  const struct weight_step **by_use; /* the most used first */
};

/* Finds the steps of BATCH's samples into RET, with arrays in PACK, which records errors: -ENOMEM.
   weight_a_record is the most frequent one, 0 without samples. */
void weight_steps_find(struct pack *pack, const struct batch *batch, struct weight_steps *ret);

/* Returns the cell of SAMPLE, one of those from which STEPS were made. */
uint32_t weight_steps_cell(const struct weight_steps *steps, const struct batch_sample *sample);

#endif
