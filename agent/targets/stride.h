/* SPDX-License-Identifier: Apache-2.0 */
/* The periods of the events that were opened on a target: the asked one on the average, but never
   for long the same, so that no program can keep step with it. */
#ifndef TARGETS_STRIDE_H
#define TARGETS_STRIDE_H

#include <stdbool.h>
#include <stdint.h>

struct target;

enum {
  STRIDE_PART = 5,          /* a period is off by up to a fifth */
  STRIDE_TIMER_PART = 16,   /* a timer's by up to a sixteenth, and by half of that at least */
  STRIDE_SAMPLES_MAX = 100, /* with one period, or what one drain brings */
};

/* One event.  All zero: as it was opened. */
struct stride {
  uint64_t now_ns, before_ns; /* 0: what the records of its samples say */
  uint64_t changed_at;        /* where in its CPU's ring */
  uint64_t samples;           /* of its own, since */
  uint64_t lost_ns;           /* to the change: the next sample stands for as much more */
};

/* A sample as a perf ring gave it. */
struct stride_sample {
  uint32_t event;     /* of the target: its place */
  bool is_inherited;  /* not the opened event's own */
  uint64_t period_ns; /* as the record says */
  uint64_t position;  /* in its CPU's ring */
};

/* Gives all events of TARGET a period near PERIOD_NS, from now on.  Returns 0; -EBUSY while a ring
   holds samples from before the last change; -ENOMEM, or -errno of an event. */
int stride_set_all(struct target *target, uint64_t period_ns);

/* After a drain: gives those events of TARGET, or its timers, that have made enough samples with
   one period another. */
void stride_vary(struct target *target);

/* The CPU time that SAMPLE stands for: the period at which it was taken and, of the first after a
   change, what the change has lost on the average.  It is counted. */
uint64_t stride_take(struct target *target, const struct stride_sample *sample);

/* What another worker has done to the events is not known: their samples are as long as asked. */
void stride_forget(struct target *target);

/* The events at work are others now, as they were opened. */
void stride_begin(struct target *target);

/* PERIOD_NS may be one that ASKED_NS was varied to.  Pure. */
bool stride_is_near(uint64_t period_ns, uint64_t asked_ns);
struct stride_choice {
  uint64_t period_ns;         /* as asked */
  int64_t debt_ns;            /* what the samples so far took longer than asked; less: negative */
  uint64_t random;            /* of 64 bits */
  double samples, per_stride; /* so far, and as many in one stride */
};

/* A period that a timer gets where PERIOD_NS is asked: off by 1/32 to 1/16, longer or shorter as
   RANDOM (64 bits) has it.  Pure. */
uint64_t stride_near_timer(uint64_t period_ns, uint64_t random);

/* A period near the asked one: shorter when there is a debt, else longer.  Pure. */
uint64_t stride_near(const struct stride_choice *choice);

#endif
