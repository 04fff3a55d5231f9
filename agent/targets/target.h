/* SPDX-License-Identifier: Apache-2.0 */
/* A target: what the keeper holds of it, and all that a worker makes of that. */
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
  uint32_t count; /* threads times CPUs; 0: those of the whole program are at work */
  bool is_wide;   /* on CPUs: of what they say only the target's tree is its own */
  int *fds;
  uint64_t *ids;
  uint64_t closed_ns; /* CPU time that such events, closed since, had counted */
};

/* Where the drain of a timer ring stands: it may be cut short (drain/drain.c). */
struct target_turn {
  uint32_t slot;        /* to go on with */
  uint32_t claims;      /* new processes since claims_ns */
  uint64_t claims_ns;   /* CLOCK_MONOTONIC */
  uint64_t missed;      /* turns, for its toll */
  uint64_t believed_ns; /* weight that it can have, by the last look at the clock */
};

/* What a histogram or recorder keeps, and what of it was taken; times are CLOCK_MONOTONIC. */
struct target_kept {
  uint64_t passed_ns;                  /* the last look */
  uint64_t seen_outside;               /* by that */
  struct histogram_sum seen;           /* by that */
  struct histogram_sum taken, waiting; /* shipped or in the open window; in the open window */
  uint64_t unshipped_since_ns;         /* CLOCK_BOOTTIME: when nothing was left to ship */
  bool is_summed, is_waiting;          /* all these are known; there is a journal */
  bool is_bad, is_shipped;             /* its ring is spoilt; recorder: what it kept was shipped */
};

struct target {
  struct hold_target held;
  int *fds;
  struct target_look look;
  struct rate rate;
  uint32_t run;                        /* serial of the note (run_note.h) it belongs to, or 0 */
  uint64_t records, weight_ns;         /* samples of its own, since this worker started */
  uint64_t stacks_ns[STACK_END_COUNT]; /* of those, by how they ended */
  struct pause pause;
  bool shows_pause;                           /* a rest since the last batch has time of a pause */
  struct switch_watch *watches;               /* switch.c; NULL: nothing was ever switched */
  struct census *census;                      /* census/census.h; NULL: nothing was seen yet */
  void (*free_census)(struct census *census); /* set with it */
  char root_comm[16], root_begun_as[16];      /* kept for when its process is gone */
  bool is_restored;            /* from before this worker: its residual is not known yet */
  bool is_flushed, has_strays; /* run: has ended; in this window, what no sampler reaches began */
  uint64_t ended_ns;           /* CLOCK_MONOTONIC when its last process was found gone, or 0 */
  uint64_t bad_since_ns;       /* CLOCK_MONOTONIC: bad_events, is_unmapped or look.stopped; or 0 */

  /* HOLD_PERF, HOLD_BOARD */
  const struct perf_rings *perf; /* where its events write, or NULL */
  uint64_t *event_ids;           /* one a CPU */
  struct residual residual;
  struct target_threads threads;
  struct perf_exits exits; /* without a mapping where there was no room for one */
  uint32_t bad_events;     /* that can no longer be read */
  bool is_unmapped;        /* a new worker could not map its ring again */

  /* HOLD_TIMER */
  struct ring_reader ring;
  struct exit_bill exit;
  struct toll toll;
  struct target_turn turn;
  struct target_kept kept;
  struct claim *row_claims;     /* children.c; NULL: no child was ever named */
  struct slot_mark *slot_marks; /* drain/slot_marks.c; NULL: none, as the next */
  struct unload_history *unload_history;
  struct region_state regions;
  uint64_t asked_ns; /* of an interval timer: what that would be by its signals alone */
};

/* Maps HELD's ring or reads the ids of its events; a copy of FDS is its own, the descriptors are
   once it is registered.  Returns NULL without memory, or when the ring cannot be mapped. */
struct target *target_new(const struct hold_target *held, const int *fds);
/* IS_OWNER: closes its descriptors, too.  NULL is fine. */
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

/* More CPU time than TARGET's tree can have spent since it was made, or any in AGE_NS: all CPUs'
   time since then, and a tenth more for clocks that disagree. */
uint64_t target_cpu_ns_max(const struct target *target);
uint64_t target_cpu_ns_within(uint64_t age_ns);

/* Samples a CPU second since the rate was set last, in thousandths; 0: too few to say. */
uint32_t target_achieved_mhz(const struct target *target);
void target_begin_achieved(struct target *target);
/* Whether [unsampled] time of a pause was reported since the last call. */
bool target_take_pause(struct target *target);
/* Reads the CPU time of a perf target's tree into its residual. */
void target_read_total(struct target *target);

#endif
