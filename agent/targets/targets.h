/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's registry of targets: the supervisor's targets, mapped and indexed. */
#ifndef TARGETS_TARGETS_H
#define TARGETS_TARGETS_H

#include "target.h"

#include "common/table.h"

enum { TARGETS_RING_BYTES_MAX = 64 << 20 /* for all timer rings together */ };

struct targets {
  struct target *rows[HOLD_TARGETS_MAX]; /* NULL: free */
  uint32_t count, next_id;
  uint64_t ring_bytes;
  uint32_t census_row;   /* where the census continues */
  bool has_warned;       /* about refused timers */
  bool has_been_wide;    /* a ring may hold samples of other programs (perf_threads.h) */
  struct table by_event; /* perf event id -> row, and place << 8 */
  const struct perf_rings *perf;
};

/* Takes over everything in HELD, including the descriptors (a worker inherits them at its fork). A
   ring that can no longer be mapped is left out. A perf target with failed events or ring is kept:
   its CPU time may still be known, and users need the reason why it gives no samples. Perf events
   of all targets write into PERF (borrowed). */
void targets_restore(struct targets *targets, const struct hold_table *held,
                     const struct perf_rings *perf);
void targets_fini(struct targets *targets);

/* Adds a newly registered target; takes over FDS on success. Returns the target or NULL (no room,
   not mappable). */
struct target *targets_add_take(struct targets *targets, const struct hold_target *held,
                                const int *fds);
/* Unmaps, closes and removes TARGET. */
void targets_remove(struct targets *targets, struct target *target);

struct target *targets_find(const struct targets *targets, uint32_t id);
/* RET_PLACE (or NULL): the index of the active event, or a value beyond them. */
struct target *targets_find_event(const struct targets *targets, uint64_t event_id,
                                  uint32_t *ret_place);
/* The newest target of PID that is not a fallback of another, or NULL. */
struct target *targets_find_pid(const struct targets *targets, int32_t pid);

/* The number of targets that sample whole CPUs. */
uint32_t targets_count_wide(const struct targets *targets);

/* Replaces the active events by THREADS. Returns 0, or -ENOMEM with no change. */
int targets_swap_threads(struct targets *targets, struct target *target,
                         struct target_threads *threads);

#endif
