/* SPDX-License-Identifier: Apache-2.0 */
/* The sampling rate of a target, and the weight of each sample.

   A timer's records carry their weight in the ring's fixed unit, so they are exact at any rate.

   A perf target's events get the new period. That affects the opened events and later children.
   Events that threads and processes have inherited keep the old period until they get their own
   events (perf_threads.h). That takes seconds, or never happens in a program with too many threads.
   Samples that arrive too fast are thinned: of each stretch of sampled time as long as the
   requested period, one random sample stands for all. Thinned samples are neither lost nor
   `produced`: their time is in the weight of the kept samples, exact to the period. */
#ifndef TARGETS_RATE_H
#define TARGETS_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct stride;
struct stride_sample;
struct target;

#define RATE_PERIOD_NS_MIN UINT64_C(100000)      /* 10 kHz */
#define RATE_PERIOD_NS_MAX UINT64_C(10000000000) /* 0.1 Hz */

/* A `run` without a rate (held.is_auto_rate) starts at this rate, which falls to the floor. */
#define RATE_AUTO_START_NS UINT64_C(1000000)  /* 1000 Hz */
#define RATE_AUTO_FLOOR_NS UINT64_C(10101010) /* 99 Hz */

/* Sums at AT_NS (CLOCK_MONOTONIC), or since then: the yield of events on whole CPUs. */
struct rate_look {
  uint64_t at_ns, foreign, records, weight_ns, unseen_ns, unseen_tasks;
};

struct rate {
  struct stride *strides; /* stride.c: one for each event; NULL: unchanged since they were opened */
  uint64_t spread;        /* stride.c: position between the shortest and the longest */
  uint64_t varied_ns, varied_records; /* a timer's last variation: CLOCK_MONOTONIC, samples */
  uint32_t varied_serial;             /* the ring's serial of that variation */
  int64_t debt_ns;                    /* stride.c: sampled time beyond the requested periods */
  uint64_t inherited, astray; /* perf_threads.c: samples of older threads; of another rate */
  uint64_t apart_at_ns, apart_wait_ns;  /* CLOCK_MONOTONIC: earliest next events for threads */
  const char *apart_fault;              /* why threads get none; NULL: possible, or not needed */
  uint64_t stale, told_records;         /* their samples; all samples at the last rate_take_stale */
  uint64_t longest_ns;                  /* the longest period ever set */
  uint64_t stretch_ns, pick_ns, random; /* thinning: position within a stretch, and its point */
  int64_t rest_ns;                      /* of weights: remainder of the samples so far */
  uint64_t thinned, throttled;          /* samples; THROTTLE records */
  uint64_t foreign;                     /* dropped samples of other programs, which cost as much */
  uint64_t unseen_ns, unseen_tasks;     /* of ended tasks: time that inherited events miss, */
  uint64_t first_ns;                    /* and the first periods of those that they see */
  const char *wide_fault;               /* the reason why whole CPUs cannot be sampled */
  uint64_t wide_at_ns, wide_wait_ns;    /* CLOCK_MONOTONIC: earliest next sampling of whole CPUs */
  struct rate_look look;
  uint64_t billed, billed_thinned; /* samples already accounted for (cost.c) */
  uint64_t auto_ns;                /* the current period of an automatic rate; 0: initial */
  uint64_t auto_past_ns;           /* CPU time before this worker, for the same */
  bool is_bounded;                 /* limited by the budget (budget.c) */
  double factor;                   /* of the requested rate, from rate_scale; 0: never set */
  uint64_t base_records, base_weight_ns, base_user_ns; /* when the period was set */
  uint32_t rest_mhz; /* of a target that is paused: its achieved rate before */
};

/* Samples TARGET every PERIOD_NS of CPU time from now on; held.set_period_ns then has that period
   (for a timer target the nearest multiple of the ring's unit). Does not inform the supervisor.
   Returns 0; -EINVAL for a period out of range; -EBUSY while a perf ring holds samples from before
   the last change (drain_run, then retry); or -errno of an event. */
int rate_set(struct target *target, uint64_t period_ns);

/* The user requests a rate other than the initial one: sets it, reduced by the budget. Returns as
   rate_set. */
int rate_wish(struct target *target, uint64_t period_ns);
/* Samples TARGET at FACTOR of the requested rate, though not below 1 Hz because of that. Small
   changes wait until they add up. Returns true if the rate was set. */
bool rate_scale(struct target *target, double factor);

/* The usage of a target with an automatic rate. */
struct rate_spent {
  uint64_t cpu_ns;    /* CPU time of its tree */
  uint64_t unseen_ns; /* the part in tasks too short for the period */
  uint64_t samples;   /* so far */
  uint64_t sample_ns; /* cost of a sample to the program and the daemon */
  uint64_t tick_ns;   /* the kernel's, if only a tick can take a sample (timers), else 0 */
};
/* The new period of a target with an automatic rate. It starts at 1000 Hz, then allows as many
   samples as cost a hundredth of its CPU time, with 99 Hz as minimum. If the program's tasks are
   long, it allows at most 5000 in as much CPU time as is spent so far. Never returns a period
   between that of 1000 Hz and a tick. Pure. */
uint64_t rate_auto_period_ns(const struct rate_spent *spent);
/* TARGET's usage before this worker is unknown: its rate continues at 99 Hz. */
void rate_auto_restore(struct target *target);
/* Takes the next step of TARGET's automatic rate. A sample costs the program SAMPLE_NS, and the
   kernel's tick is TICK_NS. Small steps wait. Returns true if the rate was set. */
bool rate_auto_step(struct target *target, uint64_t sample_ns, uint64_t tick_ns);

/* The requested rate, or the current automatic one, in thousandths of a hertz. */
uint32_t rate_wish_mhz(const struct target *target);
/* The reason for the rate: "asked", "ctl", "budget" (also for an automatic rate), or "throttled" by
   the kernel. */
const char *rate_reason(const struct target *target);

uint64_t rate_period_ns(const struct target *target); /* as requested; a timer's own is near */
/* The longest period of any event or timer of TARGET. */
uint64_t rate_longest_ns(const struct target *target);
/* The CPU time that this many threads may have spent since their last samples: that period for each
   thread and CPU. */
uint64_t rate_held_ns(const struct target *target, uint32_t threads);

/* rate_weigh: the CPU time that SAMPLE of a perf TARGET stands for, in whole parts of rate_part_ns;
   0: thinned out. */
uint64_t rate_part_ns(const struct target *target);
uint64_t rate_weigh(struct target *target, const struct stride_sample *sample);

/* True if, since the last call, at least a quarter of TARGET's samples were of threads that no
   change of rate or period reaches (apart_fault). */
bool rate_take_stale(struct target *target);

/* Must be free of rhythm; need not be secret. */
uint64_t rate_random(struct rate *rate);
void rate_fini(struct rate *rate);

#endif
