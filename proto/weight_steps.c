/* SPDX-License-Identifier: Apache-2.0 */
/* A timer's samples weigh a period each. Weights of perf samples vary by up to a fifth of it and
   are in quarters (agent/targets/rate.c). So a window has some ten different distances from the
   usual weight, for any number of samples:

     weight of one            how often    distance    cell
     10 101 008  (a period)   995                 0       0
      7 575 756               341        -2 525 252       1
     12 626 260               332         2 525 252       2
     20 202 016  (of two)      97                 0       0

   As numbers of four bytes each, weights are a quarter of a batch, and zstd finds nothing in them
   but repetitions; as cells of one byte they take two to three bits.

   Sorting and binary search are used instead of a hash: weights in a program's ring are untrusted,
   and no input makes a sort slow. */
#include "weight_steps.h"
#include "pack.h"

#include <stdlib.h>

static int by_number(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static int by_distance(const void *left, const void *right) {
  uint64_t a = ((const struct weight_step *)left)->distance;
  uint64_t b = ((const struct weight_step *)right)->distance;
  return a < b ? -1 : a > b;
}

static int most_used_first(const void *left, const void *right) {
  const struct weight_step *a = *(const struct weight_step *const *)left;
  const struct weight_step *b = *(const struct weight_step *const *)right;
  if (a->samples != b->samples) return a->samples > b->samples ? -1 : 1;
  return by_distance(a, b);
}

/* Returns the most frequent number in NUMBERS, which are sorted. */
static uint64_t most_frequent(const uint64_t *numbers, uint32_t count) {
  uint64_t best = 0;
  uint32_t best_run = 0, run = 0;
  for (uint32_t i = 0; i < count; i++) {
    run = i > 0 && numbers[i] == numbers[i - 1] ? run + 1 : 1;
    if (run <= best_run) continue;
    best_run = run;
    best = numbers[i];
  }
  return best;
}

static uint64_t find_weight_a_record(struct pack *pack, const struct batch *batch) {
  uint64_t *weights = pack_array(pack, batch->sample_count, sizeof *weights);
  uint32_t count = 0;
  if (pack->error != 0) return 0;
  for (uint32_t i = 0; i < batch->sample_count; i++)
    if (batch->samples[i].count > 0)
      weights[count++] = batch->samples[i].weight / batch->samples[i].count;
  qsort(weights, count, sizeof *weights, by_number);
  return most_frequent(weights, count);
}

static uint64_t distance_of(const struct weight_steps *steps, const struct batch_sample *sample) {
  return sample->weight - sample->count * steps->weight_a_record;
}

/* Fills by_distance with one step for each distinct distance of the samples. */
static void find_distances(const struct batch *batch, struct weight_steps *steps) {
  struct weight_step *step = steps->by_distance;
  for (uint32_t i = 0; i < batch->sample_count; i++)
    step[i] = (struct weight_step){.distance = distance_of(steps, &batch->samples[i])};
  qsort(step, batch->sample_count, sizeof *step, by_distance);
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    bool is_new = i == 0 || step[i].distance != step[steps->count - 1].distance;
    if (is_new) step[steps->count++] = step[i];
    step[steps->count - 1].samples++;
  }
}

static void number_by_use(struct weight_steps *steps) {
  for (uint32_t i = 0; i < steps->count; i++) steps->by_use[i] = &steps->by_distance[i];
  qsort(steps->by_use, steps->count, sizeof *steps->by_use, most_used_first);
  for (uint32_t i = 0; i < steps->count; i++)
    steps->by_distance[steps->by_use[i] - steps->by_distance].cell = i;
}

void weight_steps_find(struct pack *pack, const struct batch *batch, struct weight_steps *ret) {
  struct weight_steps steps = {.weight_a_record = find_weight_a_record(pack, batch)};
  steps.by_distance = pack_array(pack, batch->sample_count, sizeof *steps.by_distance);
  steps.by_use = pack_array(pack, batch->sample_count, sizeof *steps.by_use);
  if (pack->error != 0) return;
  find_distances(batch, &steps);
  number_by_use(&steps);
  *ret = steps;
}

uint32_t weight_steps_cell(const struct weight_steps *steps, const struct batch_sample *sample) {
  const struct weight_step wanted = {.distance = distance_of(steps, sample)};
    const struct weight_step *found = bsearch(&wanted, steps->by_distance, steps->count,
                                            sizeof *steps->by_distance, by_distance);
  return found->cell;
}
