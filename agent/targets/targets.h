/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's registry of targets: what the keeper holds, mapped and indexed. */
#ifndef TARGETS_TARGETS_H
#define TARGETS_TARGETS_H

#include "target.h"

#include "common/table.h"

enum { TARGETS_RING_BYTES_MAX = 64 << 20 /* of all timer rings together */ };

struct targets {
  struct target *rows[HOLD_TARGETS_MAX]; /* NULL: free */
  uint32_t count, next_id;
  uint64_t ring_bytes;
  uint32_t census_row;   /* where the census goes on */
  bool has_warned;       /* of timers that were refused */
  bool has_been_wide;    /* a ring may hold samples of other programs (perf_threads.h) */
  struct table by_event; /* perf event id -> row, and place << 8 */
  const struct perf_rings *perf;
};

/* Takes up everything in HELD, the descriptors included (a worker has them from its fork).  A ring
   that cannot be mapped any more is left out; a perf target whose events or ring have gone bad is
   kept: its CPU time may still be known, and people want to know why it gives no samples.  Perf
   events of all targets write into PERF (borrowed). */
void targets_restore(struct targets *targets, const struct hold_table *held,
                     const struct perf_rings *perf);
void targets_fini(struct targets *targets);

/* Adds what was newly registered; takes over FDS on success.  Returns the target or NULL (no room,
   not mappable). */
struct target *targets_add_take(struct targets *targets, const struct hold_target *held,
                                const int *fds);
/* Unmaps, closes and forgets TARGET. */
void targets_remove(struct targets *targets, struct target *target);

struct target *targets_find(const struct targets *targets, uint32_t id);
/* RET_PLACE (or NULL): which of the events at work it is, or beyond them. */
struct target *targets_find_event(const struct targets *targets, uint64_t event_id,
                                  uint32_t *ret_place);
/* The newest target of PID that stands behind no other, or NULL. */
struct target *targets_find_pid(const struct targets *targets, int32_t pid);

/* How many sample whole CPUs. */
uint32_t targets_count_wide(const struct targets *targets);

/* Exchanges the events at work for THREADS.  Returns 0, or -ENOMEM and changes nothing. */
int targets_swap_threads(struct targets *targets, struct target *target,
                         struct target_threads *threads);

#endif
