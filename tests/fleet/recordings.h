/* SPDX-License-Identifier: Apache-2.0 */
/* Captured windows of real programs, from files that `fleetprof run --output` wrote. */
#ifndef FLEET_RECORDINGS_H
#define FLEET_RECORDINGS_H

#include "proto/batch.h"

#include <stdbool.h>

struct recording {
  struct batch batch;
  bool *is_leaf;     /* a node each: an address in code, with no node below it */
  uint64_t grain_ns; /* what the weights of its records are multiples of; 0: any */
};

struct recordings {
  struct recording *rows;
  uint32_t count;
  struct arena_list *arenas; /* of the rows */
};

/* What a window must have to be taken. */
struct recordings_floor {
  uint64_t records;
  uint32_t nodes;
};

/* Adds the windows of the profile PATH that have what FLOOR asks.  Returns 0, -ENODATA when
   there is none, or -errno. */
int recordings_add(struct recordings *recordings, const char *path,
                   const struct recordings_floor *floor);

/* What COUNT records weigh that are like those of SAMPLE, in whole grains as a board tells them. */
uint64_t recording_weight(const struct recording *recording, const struct batch_sample *sample,
                          uint64_t count);

void recordings_fini(struct recordings *recordings);

#endif
