/* SPDX-License-Identifier: Apache-2.0 */
/* Captured windows of real programs, from files that `fleetprof run --output` wrote. */
#ifndef FLEET_RECORDINGS_H
#define FLEET_RECORDINGS_H

#include "proto/batch.h"

#include <stdbool.h>

struct recording {
  struct batch batch;
  bool *is_leaf;     /* a node each: an address in code, with no node below it */
  uint64_t grain_ns; /* its records' weights are multiples of this; 0: any */
};

struct recordings {
  struct recording *rows;
  uint32_t count;
  struct arena_list *arenas; /* of the rows */
};

/* Minimum size of an accepted window. */
struct recordings_floor {
  uint64_t records;
  uint32_t nodes;
};

/* Adds the windows of the profile PATH that satisfy FLOOR. Returns 0, -ENODATA if there are none,
   or -errno. */
int recordings_add(struct recordings *recordings, const char *path,
                   const struct recordings_floor *floor);

/* The weight of COUNT records like those of SAMPLE, in whole grains as a board reports them. */
uint64_t recording_weight(const struct recording *recording, const struct batch_sample *sample,
                          uint64_t count);

void recordings_fini(struct recordings *recordings);

#endif
