/* SPDX-License-Identifier: Apache-2.0 */
/* Varies the period of events, so that no program synchronizes with it. The kernel measures an
   event's period in CPU time of its thread, and keeps the remainder while the thread is off the
   CPU. So a program that works in bursts is not favored for sleeping. But if its bursts last about
   one period, or two, or a half, samples hit nearly the same place in each. Bursts of 1.0 ms at 997
   Hz (1.003 ms) showed two functions at 0.55 instead of 0.66, for twelve seconds. The cause is the
   period's length, not its start, so the period itself must vary.

   Each event runs for some samples with one period, then with another that differs by up to a
   fifth: as much as keeps the rate right within 1 % and four periods. The sign depends on whether
   the target's samples are ahead or behind. The amount is not drawn but spread evenly (steps of the
   golden ratio). While there are few samples a stride is ten of them, or the samples of one drain;
   later a hundred. All samples of a stride may be at one place of the program's loop, and only many
   strides average that out. (With a hundred from the start, one in six runs of two seconds at 99 Hz
   had shares far outside their intervals.)

   The manual does not describe the effect of PERF_EVENT_IOC_PERIOD. Read in the source and measured
   on 6.18: the opened event begins a whole period of the new length, even if its thread is not on a
   CPU. The elapsed part of the old one is lost. The PERIOD field of its samples stays at the first
   value for ever. Events already inherited by threads and children stay unchanged, field and rate;
   those inherited later have the new period in both. So the field is used for inherited events. For
   the opened event the value set here is used, from the ring position of the change on.

   The daemon's clock is independent of the program's, so a change loses a random part of a period,
   half on average. The first sample that follows stands for that too. If it would have fallen into
   kernel code, the next one in user code gets it. In a stride of a hundred samples that moves half
   a period from kernel to user. It is at most an eighth of a percent of a program's time. Half of a
   long period would be a bad guess, so then the events' counts are read: the loss is at most the
   program's CPU time without sample or report. The clock of a whole CPU runs while the CPU is idle,
   so there a change loses almost no reported time.

   A program with phases as long as the requested period (10.1 ms at 99 Hz) would synchronize with a
   timer: phases of 30 % appeared with 0 to 46 %. So the timer's period is drawn near it, again once
   a second by the control path (switch.h). The process sets its timers in a sample's handler, and
   no other sample makes a system call for it. A change costs a check of all its threads here and
   two system calls for each thread there. The thread that sets the timers loses nothing. For
   another thread the kernel may drop a signal that has not been delivered yet (since Linux 6.13):
   one sample of each thread that waits for a CPU. So a change needs a hundred samples for each
   other thread with a timer, and costs at most a hundredth of the samples. A process with very many
   short threads gets none. A histogram counts expiries of one period, which stays constant. */
#include "stride.h"
#include "rate.h"
#include "switch.h"
#include "targets.h"

#include "common/clock.h"
#include "perf/perf_ring.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* of 2^64: steps by it spread evenly */
#define EXACT 100.0                         /* 1 % */
#define OFF_PERIODS 4.0
#define TIMER_NS NS_PER_SECOND
#define LONG_NS UINT64_C(20000000) /* reading counts for shorter periods would be too frequent */

enum {
  SHORTEST_SAMPLES = 10,
  LOST_ONE_OF = 100, /* a change may lose one of this many samples of a timer */
  STRIDES_MIN = 20,  /* in the samples so far; after that they grow longer */
};

uint64_t stride_near(const struct stride_choice *choice) {
  double most = 1.0 / STRIDE_PART, off = OFF_PERIODS + choice->samples / EXACT;
  if (choice->per_stride * most > off) most = off / choice->per_stride;
  double part = (double)(choice->random >> 32) / (double)UINT32_MAX * most;
  uint64_t off_ns = (uint64_t)((double)choice->period_ns * part);
  return choice->debt_ns > 0 ? choice->period_ns - off_ns : choice->period_ns + off_ns;
}

bool stride_is_near(uint64_t period_ns, uint64_t asked_ns) {
  uint64_t most = asked_ns / STRIDE_PART + asked_ns / STRIDE_PART / STRIDE_PART;
  return period_ns >= asked_ns - most && period_ns <= asked_ns + most;
}

static const struct perf_ring *ring_of(const struct target *target, uint32_t event) {
  if (target->perf == NULL || target->perf->count == 0) return NULL;
  return &target->perf->cpus[event % target->perf->count];
}

/* True if all records from before the last change have been drained. */
static bool is_settled(const struct target *target, uint32_t event) {
  const struct perf_ring *ring = ring_of(target, event);
  return ring == NULL || perf_ring_tail(ring) >= target->rate.strides[event].changed_at;
}

static bool are_settled(const struct target *target) {
  for (uint32_t i = 0; i < target_events(target); i++)
    if (!is_settled(target, i)) return false;
  return true;
}

/* Without memory the period is not varied. */
static bool has_strides(struct target *target) {
  struct rate *rate = &target->rate;
  if (rate->strides == NULL) rate->strides = calloc(target_events(target), sizeof *rate->strides);
  return rate->strides != NULL;
}

/* The time due minus the amounts promised to the first samples of the other events. */
static uint64_t due_ns(struct target *target, const struct stride *but) {
  target_read_total(target);
  uint64_t due = residual_due_ns(&target->residual), promised = 0;
  for (uint32_t i = 0; i < target_events(target); i++)
    if (&target->rate.strides[i] != but) promised += target->rate.strides[i].lost_ns;
  return due > promised ? due - promised : 0;
}

/* If an event has made no sample since its last change, it is unknown whether it ran. */
static uint64_t lost_ns(struct target *target, const struct stride *stride) {
  bool is_of_cpu = target->held.kind == HOLD_BOARD || target->threads.is_wide;
  if (is_of_cpu || stride->samples == 0) return stride->lost_ns;
  uint64_t period_ns = stride->now_ns != 0 ? stride->now_ns : rate_period_ns(target);
  uint64_t lost = stride->lost_ns + period_ns / 2;
  uint64_t most = period_ns < LONG_NS ? lost : due_ns(target, stride);
  return lost < most ? lost : most;
}

/* A debt of inherited events cannot be repaid, so the debt is limited to a stride. */
static void owe(struct rate *rate, uint64_t period_ns, int64_t more_ns) {
  int64_t most = (int64_t)(STRIDE_SAMPLES_MAX * period_ns), debt = rate->debt_ns + more_ns;
  rate->debt_ns = debt > most ? most : debt < -most ? -most : debt;
}

static int set(struct target *target, uint32_t event, uint64_t period_ns, uint64_t per_stride) {
  struct rate *rate = &target->rate;
  struct stride *stride = &rate->strides[event];
  const struct perf_ring *ring = ring_of(target, event);
  if (rate->spread == 0) rate->spread = rate_random(rate);
  uint64_t lost = lost_ns(target, stride);
  int64_t more_ns = (int64_t)(lost - stride->lost_ns);
  struct stride_choice choice = {.period_ns = period_ns,
                                 .debt_ns = rate->debt_ns + more_ns,
                                 .random = rate->spread += GOLDEN,
                                 .samples = (double)(target->records - rate->base_records),
                                 .per_stride = (double)per_stride};
  uint64_t near_ns = stride_near(&choice);
  if (ioctl(target_event(target, event), PERF_EVENT_IOC_PERIOD, &near_ns) != 0) return -errno;
  *stride = (struct stride){.before_ns = stride->now_ns,
                            .now_ns = near_ns,
                            .changed_at = ring != NULL ? perf_ring_head(ring) : 0,
                            .lost_ns = lost};
  owe(rate, period_ns, more_ns);
  return 0;
}

int stride_set_all(struct target *target, uint64_t period_ns) {
  if (!has_strides(target)) return -ENOMEM;
  if (!are_settled(target)) return -EBUSY;
  target->rate.debt_ns = 0;
  for (uint32_t i = 0; i < target_events(target); i++) {
    int error = set(target, i, period_ns, 0); /* the samples so far were of another rate */
    if (error && target->threads.count == 0) return error; /* a thread may have ended */
  }
  return 0;
}

static uint64_t samples_of_stride(const struct target *target) {
  uint64_t samples = (target->records - target->rate.base_records) / STRIDES_MIN;
  if (samples < SHORTEST_SAMPLES) return SHORTEST_SAMPLES;
  return samples < STRIDE_SAMPLES_MAX ? samples : STRIDE_SAMPLES_MAX;
}

uint64_t stride_near_timer(uint64_t period_ns, uint64_t random) {
  uint64_t least_ns = period_ns / STRIDE_TIMER_PART / 2;
  uint64_t off_ns = least_ns + (random >> 1) % (least_ns + 1);
  bool is_longer = (random & 1) != 0 || period_ns - off_ns < RATE_PERIOD_NS_MIN;
  return is_longer && period_ns + off_ns <= RATE_PERIOD_NS_MAX ? period_ns + off_ns
                                                               : period_ns - off_ns;
}

static uint64_t threads_with_timers(const struct target *target) {
  struct ring_process_view view;
  uint64_t armed = 0;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    if (view.pid != 0) armed += view.armed < RING_SLOTS_MAX ? view.armed : RING_SLOTS_MAX;
  }
  return armed;
}

static void vary_timer(struct target *target) {
  struct rate *rate = &target->rate;
  uint64_t now = clock_monotonic_ns();
  if (rate->varied_ns == 0) rate->varied_ns = now;
  bool is_at_work = target->held.control == RING_RUN && target->held.behind == 0;
  if (!is_at_work || target->held.collect == RING_HISTOGRAM || target->ended_ns != 0) return;
  uint64_t records = target->records - rate->varied_records, least = SHORTEST_SAMPLES;
  if (records < least || now - rate->varied_ns < TIMER_NS) return;
  uint64_t armed = threads_with_timers(target);
  if (armed > 1) least += (armed - 1) * LOST_ONE_OF;
  if (records < least) return;
  rate->varied_ns = now;
  rate->varied_records = target->records;
  rate->varied_serial = ring_switch_serial(&target->ring) + 1;
  ring_switch_set_period(&target->ring,
                         stride_near_timer(rate_period_ns(target), rate_random(rate)));
  switch_publish(target);
}

void stride_vary(struct target *target) {
  if (target->held.kind == HOLD_TIMER) {
    vary_timer(target);
    return;
  }
  uint64_t period_ns = rate_period_ns(target), least = samples_of_stride(target);
  if (!has_strides(target)) return;
  for (uint32_t i = 0; i < target_events(target); i++) {
    if (target->rate.strides[i].samples < least || !is_settled(target, i)) continue;
    set(target, i, period_ns, target->rate.strides[i].samples);
  }
}

void stride_forget(struct target *target) {
  if (!has_strides(target)) return;
  for (uint32_t i = 0; i < target_events(target); i++)
    target->rate.strides[i] =
        (struct stride){.now_ns = rate_period_ns(target), .before_ns = rate_period_ns(target)};
}

static uint64_t own_period_ns(const struct stride *stride, const struct stride_sample *sample) {
  uint64_t set_ns = sample->position < stride->changed_at ? stride->before_ns : stride->now_ns;
  return set_ns != 0 ? set_ns : sample->period_ns;
}

/* Counts a sample of the opened event. Returns the time that it stands for besides its period. */
static uint64_t count(struct stride *stride, const struct stride_sample *sample) {
  if (sample->position < stride->changed_at) return 0;
  uint64_t lost = stride->lost_ns;
  stride->samples++;
  stride->lost_ns = 0;
  return lost;
}

void stride_begin(struct target *target) {
  rate_fini(&target->rate);
}

uint64_t stride_take(struct target *target, const struct stride_sample *sample) {
  uint64_t asked_ns = rate_period_ns(target), period_ns = sample->period_ns;
  if (!has_strides(target) || sample->event >= target_events(target)) return period_ns;
  struct stride *stride = &target->rate.strides[sample->event];
  uint64_t more_ns = sample->is_inherited ? 0 : count(stride, sample);
  if (!sample->is_inherited) period_ns = own_period_ns(stride, sample);
  target->rate.inherited += sample->is_inherited;
  target->rate.stale += sample->is_inherited && target->rate.apart_fault != NULL;
  if (!stride_is_near(period_ns, asked_ns))
    target->rate.astray += sample->is_inherited;
  else
    owe(&target->rate, asked_ns, (int64_t)period_ns - (int64_t)asked_ns);
  return period_ns + more_ns;
}
