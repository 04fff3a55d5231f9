/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel does with PERF_EVENT_IOC_PERIOD is not in its manual.  Measured on 6.18: the
   opened event goes over to the new period at once, yet the PERIOD field of its samples keeps
   saying the old one for ever; events that threads and children inherited before stay as they are,
   field and rate; those inherited later have the new period in both.  So the field is believed of
   inherited events, and of the opened event (its stream id is its own id) what was set here,
   from the place in the ring on where the change took effect.

   (Threads of one program that take turns on a CPU swap their events, so which thread goes on at
   the old rate changes with every switch between them.  Weights do not care.)

   Thinning keeps the sum and the shares.  Sampled time is laid out in a row and cut into stretches
   of one wanted period; in each a point is drawn, and the sample that covers it stands for the
   whole stretch:

     samples    |--|--|--|--|--|--|--|--|--|--|--|--|       each as long as its event's period
     stretches  |-----x-----|-x---------|--------x--|       wanted period; x: drawn

   Each sample is kept with the probability old/new whatever the program's rhythm is, and the sum of
   weights is never off by more than one period; independent draws would be off by the root of their
   number (measured on 4000 Hz thinned to 100 Hz over ten seconds: 3 %). */
#include "rate.h"
#include "switch.h"
#include "targets.h"

#include "perf/perf_ring.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

enum { SMALL_PART = 20 /* of a period: no change worth making */ };
#define SCALED_NS_MAX UINT64_C(1000000000) /* no budget asks for less than 1 Hz */

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

uint64_t rate_period_ns(const struct target *target) {
  const struct hold_target *held = &target->held;
  return held->set_period_ns != 0 ? held->set_period_ns : held->period_ns;
}

uint64_t rate_longest_ns(const struct target *target) {
  return larger(target->rate.longest_ns, rate_period_ns(target));
}

/* True when everything that was recorded before the last change has been drained. */
static bool is_settled(const struct target *target) {
  if (target->perf == NULL || target->rate.switched_at == NULL) return true;
  for (uint32_t i = 0; i < target->held.fd_count && i < target->perf->count; i++) {
    const struct perf_ring *ring = &target->perf->cpus[i];
    uint64_t change = target->rate.switched_at[i];
    if (perf_ring_tail(ring) < change) return false;
  }
  return true;
}

static int set_events(struct target *target, uint64_t period_ns) {
  struct rate *rate = &target->rate;
  if (rate->switched_at == NULL)
    rate->switched_at = calloc(target->held.fd_count, sizeof *rate->switched_at);
  if (rate->switched_at == NULL) return -ENOMEM;
  if (!is_settled(target)) return -EBUSY;
  for (uint32_t i = 0; i < target->held.fd_count; i++) {
    if (ioctl(target->fds[i], PERF_EVENT_IOC_PERIOD, &period_ns) != 0) return -errno;
    if (target->perf != NULL && i < target->perf->count)
      rate->switched_at[i] = perf_ring_head(&target->perf->cpus[i]);
  }
  return 0;
}

/* Returns the multiple of the ring's unit that is nearest. */
static uint64_t set_ring(struct target *target, uint64_t period_ns) {
  uint64_t unit_ns = target->held.unit_ns ? target->held.unit_ns : target->held.period_ns;
  uint64_t steps = (period_ns + unit_ns / 2) / unit_ns;
  period_ns = larger(steps, 1) * unit_ns;
  ring_switch_set_period(&target->ring, period_ns);
  switch_publish(target);
  return period_ns;
}

int rate_set(struct target *target, uint64_t period_ns) {
  struct rate *rate = &target->rate;
  uint64_t before = rate_period_ns(target);
  if (period_ns < RATE_PERIOD_NS_MIN || period_ns > RATE_PERIOD_NS_MAX) return -EINVAL;
  int error = 0;
  if (target->held.kind != HOLD_TIMER)
    error = set_events(target, period_ns);
  else
    period_ns = set_ring(target, period_ns);
  if (error) return error;
  rate->before_ns = before;
  rate->longest_ns = larger(larger(rate->longest_ns, before), period_ns);
  rate->stretch_ns = rate->pick_ns = 0;
  target->held.set_period_ns = period_ns;
  target_begin_achieved(target);
  return 0;
}

static uint64_t wish_ns(const struct target *target) {
  const struct hold_target *held = &target->held;
  return held->wish_period_ns != 0 ? held->wish_period_ns : held->period_ns;
}

/* The period at FACTOR of the wish. */
static uint64_t scaled_ns(const struct target *target, double factor) {
  uint64_t wish = wish_ns(target), longest = larger(wish, SCALED_NS_MAX);
  double scaled = (double)wish / factor;
  return scaled < (double)longest ? (uint64_t)scaled : longest;
}

int rate_wish(struct target *target, uint64_t period_ns) {
  uint64_t before = target->held.wish_period_ns;
  if (period_ns < RATE_PERIOD_NS_MIN || period_ns > RATE_PERIOD_NS_MAX) return -EINVAL;
  double factor = target->rate.factor > 0 ? target->rate.factor : 1;
  target->held.wish_period_ns = period_ns;
  int error = rate_set(target, scaled_ns(target, factor));
  if (error) target->held.wish_period_ns = before;
  return error;
}

bool rate_scale(struct target *target, double factor) {
  uint64_t now = rate_period_ns(target), wanted = scaled_ns(target, factor);
  bool is_small = wanted < now + now / SMALL_PART && wanted + wanted / SMALL_PART > now;
  bool is_back = factor >= 1 && now > wanted;
  if (is_small && !is_back) return false;
  if (rate_set(target, wanted) != 0) return false;
  target->rate.factor = factor;
  return true;
}

uint32_t rate_wish_mhz(const struct target *target) {
  if (target->held.wish_period_ns == 0) return target->held.asked_mhz;
  return (uint32_t)(UINT64_C(1000000000000) / target->held.wish_period_ns);
}

const char *rate_reason(const struct target *target) {
  if (rate_period_ns(target) > wish_ns(target) + wish_ns(target) / SMALL_PART) return "budget";
  if (target->rate.throttled > 0) return "throttled";
  return target->held.wish_period_ns != 0 ? "ctl" : "asked";
}

/* xorshift: draws need no secret, only no rhythm. */
static uint64_t draw(struct rate *rate, uint64_t below) {
  if (rate->random == 0) rate->random = (uint64_t)(uintptr_t)rate | 1;
  rate->random ^= rate->random << 13;
  rate->random ^= rate->random >> 7;
  rate->random ^= rate->random << 17;
  return rate->random % below;
}

/* Lays PERIOD_NS of sampled time down.  Returns the stretches of WANTED_NS whose point it covers,
   times WANTED_NS. */
static uint64_t thin(struct rate *rate, uint64_t period_ns, uint64_t wanted_ns) {
  uint64_t weight_ns = 0, end = rate->stretch_ns + period_ns;
  if (rate->stretch_ns == 0) rate->pick_ns = draw(rate, wanted_ns);
  if (rate->pick_ns >= rate->stretch_ns && rate->pick_ns < end) weight_ns = wanted_ns;
  if (end >= wanted_ns) { /* into the next stretch: period_ns < wanted_ns, so no further */
    end -= wanted_ns;
    rate->pick_ns = draw(rate, wanted_ns);
    if (rate->pick_ns < end) weight_ns += wanted_ns;
  }
  rate->stretch_ns = end;
  if (weight_ns == 0) rate->thinned++;
  return weight_ns;
}

/* The period at which the sample was taken. */
static uint64_t true_period_ns(const struct target *target, const struct rate_sample *sample) {
  if (target->held.set_period_ns == 0 || sample->stream_id != sample->event_id)
    return sample->period_ns;
  for (uint32_t i = 0; target->rate.switched_at != NULL && i < target->held.fd_count; i++)
    if (target->event_ids[i] == sample->event_id)
      return sample->position < target->rate.switched_at[i] ? target->rate.before_ns
                                                            : target->held.set_period_ns;
  return target->held.set_period_ns; /* set by a worker that is no more */
}

uint64_t rate_weigh(struct target *target, const struct rate_sample *sample) {
  uint64_t period_ns = true_period_ns(target, sample), wanted_ns = rate_period_ns(target);
  if (period_ns == 0 || period_ns >= wanted_ns) return period_ns;
  return thin(&target->rate, period_ns, wanted_ns);
}

void rate_fini(struct rate *rate) {
  free(rate->switched_at);
  rate->switched_at = NULL;
}
