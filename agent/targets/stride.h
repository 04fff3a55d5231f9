/* SPDX-License-Identifier: Apache-2.0 */
/* The periods of a target's opened events: the requested period on average, but never the same for
   long, so that no program can synchronize with it. */
#ifndef TARGETS_STRIDE_H
#define TARGETS_STRIDE_H

#include <stdbool.h>
#include <stdint.h>

struct target;

enum {
  STRIDE_PART = 5,          /* a period differs by up to a fifth */
  STRIDE_TIMER_PART = 16,   /* a timer's differs by up to a sixteenth, at least half of that */
  STRIDE_SAMPLES_MAX = 100, /* with one period, or the samples of one drain */
};

/* An event. All zero: unchanged since it was opened. */
struct stride {
  uint64_t now_ns, before_ns; /* 0: as in the records of its samples */
  uint64_t changed_at;        /* position in its CPU's ring */
  uint64_t samples;           /* its own, since then */
  uint64_t lost_ns;           /* by the change: added to the next sample */
};

/* A sample from a perf ring. */
struct stride_sample {
  uint32_t event;     /* index in the target */
  bool is_inherited;  /* not from the opened event itself */
  uint64_t period_ns; /* as in the record */
  uint64_t position;  /* in its CPU's ring */
};

/* Gives all events of TARGET a period near PERIOD_NS, from now on. Returns 0; -EBUSY while a ring
   holds samples from before the last change; -ENOMEM, or -errno of an event. */
int stride_set_all(struct target *target, uint64_t period_ns);

/* After a drain: changes the period of TARGET's events, or timers, that have made enough samples
   with one period. */
void stride_vary(struct target *target);

/* The CPU time that SAMPLE stands for: its period, and for the first one after a change, the
   average loss. Counts SAMPLE. */
uint64_t stride_take(struct target *target, const struct stride_sample *sample);

/* An earlier worker's changes of the events are unknown: their samples count as long as
   requested. */
void stride_forget(struct target *target);

/* The active events were replaced by newly opened ones. */
void stride_begin(struct target *target);

/* True if PERIOD_NS may be a variation of ASKED_NS. Pure. */
bool stride_is_near(uint64_t period_ns, uint64_t asked_ns);
struct stride_choice {
  uint64_t period_ns;         /* the requested period */
  int64_t debt_ns;            /* sampled time beyond the requested periods; negative: below */
  uint64_t random;            /* 64 bits */
  double samples, per_stride; /* so far; in one stride */
};

/* A timer's period for a requested PERIOD_NS: it differs by 1/32 to 1/16, longer or shorter
   depending on RANDOM (64 bits). Pure. */
uint64_t stride_near_timer(uint64_t period_ns, uint64_t random);

/* A period near the requested one: shorter if there is a debt, else longer. Pure. */
uint64_t stride_near(const struct stride_choice *choice);

#endif
