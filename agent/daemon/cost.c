/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's part is exact: the kernel's CPU clocks of supervisor and worker.  The samples' part
   is their number times the cost of one sample.  For a perf target that is the calibrated figure
   (sample_cost.h).  For a timer target it is the median that its agent has calibrated at set-up,
   plus the delivery of the signal.

   Thinned-out samples cost the program as much as others.  They show threads that no rate can reach
   any more (rate.h), so they are counted separately. */
#include "cost.h"

#include "common/clock.h"
#include "targets/targets.h"

#include <time.h>

#define HANDLER_GUESS_NS 500 /* if nothing was measured */

static uint64_t clock_ns(clockid_t clock) {
  struct timespec spent;
  if (clock_gettime(clock, &spent) != 0) return 0;
  return (uint64_t)spent.tv_sec * NS_PER_SECOND + (uint64_t)spent.tv_nsec;
}

static uint64_t daemon_ns(const struct cost_meter *meter) {
  clockid_t keeper;
  uint64_t ns = clock_cpu_ns();
  if (clock_getcpuclockid(meter->keeper, &keeper) == 0) ns += clock_ns(keeper);
  return ns;
}

void cost_start(struct cost_meter *meter, pid_t keeper) {
  meter->keeper = keeper;
  sample_cost_measure(&meter->machine);
  ring_cost_clock_start(&meter->clock);
  meter->daemon_ns = daemon_ns(meter);
}

bool cost_handler(const struct cost_meter *meter, const struct target *target,
                  struct ring_cost *ret) {
  if (target->held.kind != HOLD_TIMER) return false;
  return ring_cost_read(&target->ring, ring_cost_ns_per_tick(&meter->clock), ret) == 0;
}

uint64_t cost_sample_ns(const struct cost_meter *meter, const struct target *target) {
  struct ring_cost handler;
  if (target->held.kind == HOLD_PERF) return meter->machine.perf_ns;
  uint64_t ns = cost_handler(meter, target, &handler) ? handler.p50_ns : HANDLER_GUESS_NS;
  return ns + meter->machine.signal_ns;
}

static void add_target(const struct cost_meter *meter, struct target *target,
                       struct cost_spent *sum) {
  struct rate *rate = &target->rate;
  double one_ns = (double)cost_sample_ns(meter, target);
  uint64_t taken = target->records + rate->foreign;
  double samples = (double)(taken - rate->billed);
  double ns = samples * one_ns, stuck_ns = (double)(rate->thinned - rate->billed_thinned) * one_ns;
  rate->billed = taken;
  rate->billed_thinned = rate->thinned;
  sum->samples += samples;
  sum->samples_ns += ns + stuck_ns;
  if (!rate->is_bounded) return;
  sum->stuck_ns += stuck_ns;
  sum->bounded += samples;
  sum->bounded_ns += ns;
}

void cost_look(struct cost_meter *meter, const struct targets *targets, uint64_t debug_ns,
               struct cost_spent *sum) {
  uint64_t now = daemon_ns(meter);
  now -= debug_ns < now ? debug_ns : now;
  if (now > meter->daemon_ns) sum->daemon_ns += (double)(now - meter->daemon_ns);
  meter->daemon_ns = now;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (targets->rows[row] != NULL) add_target(meter, targets->rows[row], sum);
}
