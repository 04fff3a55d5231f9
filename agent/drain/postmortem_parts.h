/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by postmortem.c and the readers of the two kinds. */
#ifndef DRAIN_POSTMORTEM_PARTS_H
#define DRAIN_POSTMORTEM_PARTS_H

#include "common/arena.h"
#include "common/table.h"
#include "proto/batch.h"
#include "ring/image_format.h"

#include <stdbool.h>

#define POSTMORTEM_SPAN_NS_MAX (INT64_MAX / 4) /* of all weights, and of any time */

/* A batch being built. */
struct postmortem {
  const struct image_table *image; /* a checked copy */
  struct arena *arena;
  struct batch batch;
  struct batch_target *target; /* the only one in it */
  struct batch_node *nodes;
  struct batch_sample *samples;
  struct batch_thread *threads;
  struct table by_place, by_thread; /* node of (module, address); sample of (node, thread) */
  uint32_t sample_room;
  uint32_t clock; /* enum ring_clock, as in the ring */
  uint64_t unit_ns, weight_ns;
  bool is_last_moments; /* has the label */
};

/* Upper bounds: of distinct places, and of threads. */
struct postmortem_room {
  uint64_t places, threads;
};

/* COUNT samples of UNITS together at PLACE. */
struct postmortem_sample {
  struct batch_node place;
  uint32_t thread;
  enum sample_type type;
  uint64_t count, units;
};

/* Makes modules and target of the batch, from IMAGE, CLOCK and is_last_moments, and allocates ROOM.
   Returns 0 or -ENOMEM. */
int postmortem_begin(struct postmortem *left, const struct postmortem_room *room);

/* Module numbers for samples without a place in a file. */
uint32_t postmortem_unknown(const struct postmortem *left);
uint32_t postmortem_unsampled(const struct postmortem *left);

/* Adds the next thread, within the room. Returns 0 or -ENOMEM. */
int postmortem_add_thread(struct postmortem *left, const char *name, uint32_t *ret);

/* Returns 0, -EBADMSG for an impossible amount of time, or -ENOMEM. */
int postmortem_add(struct postmortem *left, const struct postmortem_sample *sample);

/* The batch ends with the last sign of life and begins SPAN_NS before that, or with the process. */
void postmortem_set_times(struct postmortem *left, uint64_t span_ns);

/* For the two kinds: read the SIZE bytes at RING. The caller has set arena, clock, unit_ns and
   is_last_moments, and takes the batch. Return as postmortem_read. */
int postmortem_recorder(struct postmortem *left, const void *ring, size_t size);
int postmortem_histogram(struct postmortem *left, const void *ring, size_t size);

#endif
