/* SPDX-License-Identifier: Apache-2.0 */
/* How often a target is sampled from now on, and what each of its samples weighs then.

   A timer's records carry their weight in the ring's fixed unit, so they are exact at any rate.

   A perf target's events are told the new period.  That reaches the opened events and whatever the
   program starts from then on; what threads and processes have inherited before goes on at the old
   period until they are given events of their own (perf_threads.h), which may be seconds, or never
   for a program of too many threads.  Their samples, where they come too fast, are thinned: of each
   stretch of sampled time as long as the period asked for, one sample drawn at random stands for
   all.  Thinned samples are not lost and not `produced`: what they stood for is in the weight of
   those that were kept, to the period. */
#ifndef TARGETS_RATE_H
#define TARGETS_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct stride;
struct stride_sample;
struct target;

#define RATE_PERIOD_NS_MIN UINT64_C(100000)      /* 10 kHz */
#define RATE_PERIOD_NS_MAX UINT64_C(10000000000) /* 0.1 Hz */

/* A `run` without a rate (held.is_auto_rate) starts here, and goes down to the floor. */
#define RATE_AUTO_START_NS UINT64_C(1000000)  /* 1000 Hz */
#define RATE_AUTO_FLOOR_NS UINT64_C(10101010) /* 99 Hz */

/* Sums at AT_NS (CLOCK_MONOTONIC), or since then: what events on whole CPUs bring. */
struct rate_look {
  uint64_t at_ns, foreign, records, weight_ns, unseen_ns, unseen_tasks;
};

struct rate {
  struct stride *strides; /* stride.c: one an event; NULL: all are as they were opened */
  uint64_t spread;        /* stride.c: where between the shortest and the longest */
  uint64_t varied_ns, varied_records; /* a timer's period was varied; CLOCK_MONOTONIC, samples */
  uint32_t varied_serial;             /* the ring's, for that alone */
  int64_t debt_ns;                    /* stride.c: what the samples took longer than asked */
  uint64_t inherited, astray; /* perf_threads.c: samples of older threads, of another rate too */
  uint64_t apart_at_ns, apart_wait_ns;  /* CLOCK_MONOTONIC: when threads may get events again */
  const char *apart_fault;              /* why they cannot; NULL: they can, or did not have to */
  uint64_t stale, told_records;         /* their samples; all, when that was last asked for */
  uint64_t longest_ns;                  /* the longest period that was ever set */
  uint64_t stretch_ns, pick_ns, random; /* thinning: how far into a stretch, and its sample */
  int64_t rest_ns;                      /* of weights: what was not told of the samples so far */
  uint64_t thinned, throttled;          /* samples; THROTTLE records */
  uint64_t foreign;                     /* samples of other programs, dropped: they cost as much */
  uint64_t unseen_ns, unseen_tasks;     /* of tasks that ended: what inherited events do not see, */
  uint64_t first_ns;                    /* and the first periods of those that they do see */
  const char *wide_fault;               /* why whole CPUs cannot be sampled */
  uint64_t wide_at_ns, wide_wait_ns;    /* CLOCK_MONOTONIC: when they may be sampled again */
  struct rate_look look;
  uint64_t billed, billed_thinned; /* samples that were paid for (cost.c) */
  uint64_t auto_ns;      /* the period that an automatic rate has come to; 0: as it began */
  uint64_t auto_past_ns; /* CPU time before this worker, for that */
  bool is_bounded;       /* by the budget (budget.c) */
  double factor;         /* of the wish, as rate_scale was told; 0: never */
  uint64_t base_records, base_weight_ns, base_user_ns; /* when the period was set */
  uint32_t rest_mhz; /* of a target that is not to be sampled now: what it achieved before */
};

/* Samples TARGET each PERIOD_NS of CPU time from now on; held.set_period_ns says so afterwards
   (of a timer target the nearest multiple of the ring's unit).  The keeper is not told.
   Returns 0; -EINVAL for a period out of range; -EBUSY while a perf ring holds samples from before
   the last change (drain_run, then again); or -errno of an event. */
int rate_set(struct target *target, uint64_t period_ns);

/* The user asks for another rate than at the start: sets it, less what a budget takes of it.
   Returns as rate_set. */
int rate_wish(struct target *target, uint64_t period_ns);
/* Samples TARGET at FACTOR of the rate that is asked for, though not below 1 Hz for that.  Small
   changes wait until they add up to one worth making.  Returns true when the rate was set. */
bool rate_scale(struct target *target, double factor);

/* What a target with an automatic rate has spent. */
struct rate_spent {
  uint64_t cpu_ns;    /* CPU time of its tree */
  uint64_t unseen_ns; /* of that, in tasks too short for the period */
  uint64_t samples;   /* so far */
  uint64_t sample_ns; /* what one costs the program and the daemon */
  uint64_t tick_ns;   /* the kernel's, where only a tick can take a sample (timers), else 0 */
};
/* The period of such a target from now on: 1000 Hz at first, then as many samples as cost a
   hundredth of its CPU time, 99 Hz at the least.  In programs whose tasks are long there are 5000
   at the most in as much CPU time as is spent so far.  It asks for no period between that of
   1000 Hz and a tick.  Pure. */
uint64_t rate_auto_period_ns(const struct rate_spent *spent);
/* What TARGET had spent before this worker is not known: its rate goes on at 99 Hz. */
void rate_auto_restore(struct target *target);
/* Takes the next step of TARGET's automatic rate, where a sample costs the program SAMPLE_NS and
   the kernel's tick is TICK_NS; small steps wait.  Returns true when the rate was set. */
bool rate_auto_step(struct target *target, uint64_t sample_ns, uint64_t tick_ns);

/* The rate that is asked for, or has become of an automatic one, in thousandths of a hertz. */
uint32_t rate_wish_mhz(const struct target *target);
/* Why the rate is what it is: "asked", "ctl", "budget" (an automatic one, too), or "throttled" by
   the kernel. */
const char *rate_reason(const struct target *target);

uint64_t rate_period_ns(const struct target *target); /* asked for now; a timer's own is near */
/* The longest period that an event or timer of TARGET may have. */
uint64_t rate_longest_ns(const struct target *target);
/* What so many threads may have spent since their last samples: that for each and CPU. */
uint64_t rate_held_ns(const struct target *target, uint32_t threads);

/* The CPU time that SAMPLE of a perf TARGET stands for, in whole parts; 0: it is thinned out. */
uint64_t rate_part_ns(const struct target *target);
uint64_t rate_weigh(struct target *target, const struct stride_sample *sample);

/* Since the last call a quarter or more of TARGET's samples were of threads that no change of rate
   or period reaches (apart_fault). */
bool rate_take_stale(struct target *target);

/* Needs no secret, only no rhythm. */
uint64_t rate_random(struct rate *rate);
void rate_fini(struct rate *rate);

#endif
