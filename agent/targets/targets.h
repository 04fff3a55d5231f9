/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's registry of targets: what the keeper holds, mapped and indexed. */
#ifndef TARGETS_TARGETS_H
#define TARGETS_TARGETS_H

#include "exit_bill.h"
#include "rate.h"
#include "residual.h"
#include "target_look.h"
#include "toll.h"

#include "common/table.h"
#include "keeper/hold.h"
#include "perf/perf_exits.h"
#include "ring/ring_reader.h"

enum { TARGETS_RING_BYTES_MAX = 64 << 20 /* of all timer rings together */ };

struct census;
struct claim;
struct switch_watch;

/* Events that the worker opened on each thread of a perf target (perf_threads.h). */
struct target_threads {
  uint32_t count; /* threads times CPUs, in this order; 0: those of the whole program are at work */
  int *fds;
  uint64_t *ids;
  uint64_t closed_ns; /* CPU time that such events, closed since, had counted */
};

struct target {
  struct hold_target held;
  int *fds;
  struct ring_reader ring;       /* HOLD_TIMER */
  uint64_t *event_ids;           /* HOLD_PERF, HOLD_BOARD: one a CPU */
  struct residual residual;      /* HOLD_PERF */
  struct target_threads threads; /* HOLD_PERF */
  struct perf_exits exits;       /* HOLD_PERF; without a mapping where there was no room for one */
  struct exit_bill exit;         /* HOLD_TIMER */
  struct rate rate;
  const struct perf_rings *perf; /* where its events write, or NULL */
  uint32_t bad_events;           /* HOLD_PERF: that can no longer be read */
  bool is_unmapped;              /* HOLD_PERF: a new worker could not map its ring again */
  struct target_look look;
  uint64_t bad_since_ns;       /* CLOCK_MONOTONIC: one of these; or 0 */
  bool is_restored;            /* from before this worker: its residual is not known yet */
  bool is_flushed;             /* run said that the program has ended */
  uint64_t ended_ns;           /* CLOCK_MONOTONIC when its last process was found gone, or 0 */
  uint64_t records, weight_ns; /* samples of its own, since this worker started */
  uint64_t stacks_cut, stacks_cut_told; /* of those records; of those in batches */
  uint64_t asked_ns;            /* of an interval timer: what that would be by its signals alone */
  struct switch_watch *watches; /* switch.c; NULL: nothing was ever switched */
  struct claim *row_claims;     /* children.c; NULL: no child was ever named */
  struct census *census;        /* census/census.h; NULL: nothing was seen yet */
  void (*free_census)(struct census *census); /* set with it */
  struct toll toll;                           /* HOLD_TIMER */
  uint64_t turns_missed;                      /* of its toll */
  uint32_t *slot_unloads;                     /* drain/unloads.c; NULL: there were none */
  uint32_t turn_slot, claims; /* where a cut turn goes on; new processes since claims_ns */
  uint64_t claims_ns;
  uint32_t run; /* serial of the note (worker.h) it belongs to, or 0 */
  char root_comm[16];
  /* Histogram and recorder: the last look (CLOCK_MONOTONIC) and what it saw; of that shipped or in
     the open window, in the window; when nothing was left to ship (CLOCK_BOOTTIME). */
  uint64_t passed_ns, seen_outside, seen_units, taken_units, waiting, unshipped_since_ns;
  bool is_summed, is_waiting; /* all these are known; there is a journal */
  bool is_bad, is_shipped;    /* its ring is spoilt; recorder: what it kept was shipped */
};

struct targets {
  struct target *rows[HOLD_TARGETS_MAX]; /* NULL: free */
  uint32_t count;
  uint32_t next_id;
  uint64_t ring_bytes;
  uint32_t census_row;   /* where the census goes on */
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

static inline uint32_t target_events(const struct target *target) {
  return target->threads.count > 0 ? target->threads.count : target->held.fd_count;
}
static inline int target_event(const struct target *target, uint32_t place) {
  return target->threads.count > 0 ? target->threads.fds[place] : target->fds[place];
}
/* Exchanges the events at work for THREADS.  Returns 0, or -ENOMEM and changes nothing. */
int targets_swap_threads(struct targets *targets, struct target *target,
                         struct target_threads *threads);
void target_threads_close(struct target_threads *threads);

/* Samples a CPU second since the rate was set last, in thousandths; 0 while there are too few to
   say. */
uint32_t target_achieved_mhz(const struct target *target);
void target_begin_achieved(struct target *target);
/* Reads the CPU time of a perf target's tree into its residual. */
void target_read_total(struct target *target);

#endif
