/* SPDX-License-Identifier: Apache-2.0 */
/* A target: the supervisor's data, and the worker's state for it. */
#ifndef TARGETS_TARGET_H
#define TARGETS_TARGET_H

#include "exit_bill.h"
#include "pause.h"
#include "rate.h"
#include "region_state.h"
#include "residual.h"
#include "target_look.h"
#include "toll.h"

#include "keeper/hold.h"
#include "perf/perf_exits.h"
#include "proto/stack_end.h"
#include "ring/histogram_format.h"
#include "ring/ring_reader.h"

struct census;
/* Events that the worker opened on each thread of a perf target, or on CPUs (perf_threads.h). */
struct target_threads {
  uint32_t count; /* threads times CPUs; 0: the events of the whole program are active */
  bool is_wide;   /* on CPUs: only records of the target's tree are its own */
  int *fds;
  uint64_t *ids;
  uint64_t closed_ns; /* CPU time counted by closed events of this kind */
};

/* The position of the drain of a timer ring, which may be cut short (drain/drain.c). */
struct target_turn {
  uint32_t slot;        /* to continue with */
  uint32_t claims;      /* new processes since claims_ns */
  uint64_t claims_ns;   /* CLOCK_MONOTONIC */
  uint64_t missed;      /* turns, for its quota */
  uint64_t believed_ns; /* plausible weight, by the last reading of the clock */
};

/* The contents of a histogram or recorder, and the part taken; times are CLOCK_MONOTONIC. */
struct target_kept {
  uint64_t passed_ns;                  /* the last pass */
  uint64_t seen_outside;               /* at that pass */
  struct histogram_sum seen;           /* at that pass */
  struct histogram_sum taken, waiting; /* shipped or in the open window; in the open window */
  uint64_t unshipped_since_ns;         /* CLOCK_BOOTTIME: when nothing was left to ship */
  bool is_summed, is_waiting;          /* all these are known; there is a journal */
  bool is_bad, is_shipped;             /* its ring is corrupt; recorder: its values were shipped */
};

struct target {
  struct hold_target held;
  int *fds;
  struct target_look look;
  struct rate rate;
  uint32_t run;                        /* serial of its launch record (run_note.h), or 0 */
  uint64_t records, weight_ns;         /* of samples, since this worker started */
  uint64_t stacks_ns[STACK_END_COUNT]; /* of those, by the end of their stacks */
  struct pause pause;
  bool shows_pause;                           /* a rest since the last batch has time of a pause */
  struct switch_watch *watches;               /* switch.c; NULL: never switched */
  struct census *census;                      /* census/census.h; NULL: nothing seen yet */
  void (*free_census)(struct census *census); /* set with it */
  char root_comm[16], root_begun_as[16];      /* kept for when its process is gone */
  bool is_restored;            /* from before this worker: its residual is unknown so far */
  bool is_flushed, has_strays; /* run: has ended; in this window, an unsampled process began */
  uint64_t ended_ns;           /* CLOCK_MONOTONIC when its last process was found gone, or 0 */
  uint64_t bad_since_ns;       /* CLOCK_MONOTONIC: bad_events, is_unmapped or look.stopped; or 0 */

  /* HOLD_PERF, HOLD_BOARD */
  const struct perf_rings *perf; /* the rings of its events, or NULL */
  uint64_t *event_ids;           /* one for each CPU */
  struct residual residual;
  struct target_threads threads;
  struct perf_exits exits; /* without a mapping if there was no room for it */
  uint32_t bad_events;     /* no longer readable */
  bool is_unmapped;        /* a new worker could not map its ring again */

  /* HOLD_TIMER */
  struct ring_reader ring;
  struct exit_bill exit;
  struct toll toll;
  struct target_turn turn;
  struct target_kept kept;
  struct claim *row_claims;     /* children.c; NULL: no child was ever listed */
  struct slot_mark *slot_marks; /* drain/slot_marks.c; NULL: none, as the next */
  struct unload_history *unload_history;
  struct region_state regions;
  uint64_t asked_ns; /* of an interval timer: weight_ns by its signals alone */
};

/* Maps HELD's ring or reads the IDs of its events. It owns a copy of FDS, and the descriptors once
   it is registered. Returns NULL if memory is short, or the ring cannot be mapped. */
struct target *target_new(const struct hold_target *held, const int *fds);
/* IS_OWNER: also closes its descriptors. TARGET may be NULL. */
void target_free(struct target *target, bool is_owner);
/* TARGET is from before this worker. */
void target_restore(struct target *target);

static inline uint32_t target_events(const struct target *target) {
  return target->threads.count > 0 ? target->threads.count : target->held.fd_count;
}
static inline int target_event(const struct target *target, uint32_t place) {
  return target->threads.count > 0 ? target->threads.fds[place] : target->fds[place];
}
void target_threads_close(struct target_threads *threads);

/* Upper bound of the CPU time of TARGET's tree since it was made, or of any tree in AGE_NS: the
   time of all CPUs since then, plus a tenth for clocks that disagree. */
uint64_t target_cpu_ns_max(const struct target *target);
uint64_t target_cpu_ns_within(uint64_t age_ns);

/* Samples for each second of CPU time since the rate was last set, in thousandths; 0: too few. */
uint32_t target_achieved_mhz(const struct target *target);
void target_begin_achieved(struct target *target);
/* True if [unsampled] time of a pause was reported since the last call. */
bool target_take_pause(struct target *target);
/* Reads the CPU time of a perf target's tree into its residual. */
void target_read_total(struct target *target);

#endif
