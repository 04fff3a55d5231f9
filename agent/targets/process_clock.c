/* SPDX-License-Identifier: Apache-2.0 */
/* Corrects the weight of an interval timer's signals. That timer uses the clock that the kernel's
   tick fills: each tick is charged entirely to the process that runs at that moment. On a shared
   machine, or for a program synchronized with the tick, that clock is wrong: it was measured 20 %
   too fast, at every rate. The shares are as good as any; the sum is not.

   The exact clock of a process can be read from outside. So the records of a process never exceed
   its CPU time since it registered (a forked child: since its start). If they would, all records of
   that drain are scaled down equally. The tick delivers at most one expiry and does not report how
   many it merged. If the records amount to less than the process has spent, each is scaled up, by
   at most a tick more than a period. Records are not scaled up with the clock of user time, nor if
   signals hit threads without a slot: their time would be charged to others. The remainder is
   [unsampled] at the end of a run (run_note.c).

   A process that is gone before its last records are drained has no clock any more. They get the
   average scale of its target. Histograms and recorders hold unscaled expiries. */
#include "process_clock.h"
#include "process_entry.h"
#include "target.h"

void process_clock_expect(struct process *process, uint64_t weight_ns) {
  process->clock.expected_ns += weight_ns;
}

/* The part of its clock from before PROCESS could be sampled. */
static uint64_t first_ns(const struct target *target, const struct process *process, uint64_t now) {
  uint64_t expected_ns = process->clock.expected_ns;
  /* The amount that an earlier worker has booked is unknown. */
  if (target->is_restored) return now > expected_ns ? now - expected_ns : 0;
  return process->pid == target->held.pid ? target->held.start_cpu_ns : 0;
}

static double average(const struct target *target) {
  if (target->asked_ns == 0) return 1;
  return (double)target->weight_ns / (double)target->asked_ns;
}

/* The maximum scale of a record, as a factor of its signal's weight. */
static double most_worth(const struct target *target, uint64_t tick_ns) {
  uint64_t period_ns = target->held.set_period_ns;
  if (period_ns == 0) period_ns = target->held.period_ns;
  if (target->held.clock != RING_CLOCK_PROF || period_ns == 0) return 1;
  return ring_reader_strayed(&target->ring) == 0 ? 1 + (double)tick_ns / (double)period_ns : 1;
}

void process_clock_settle(const struct target *target, struct process *process, uint64_t tick_ns) {
  struct process_clock *clock = &process->clock;
  uint64_t expected_ns = clock->expected_ns, now = proc_cpu_ns(process->pid);
  if (expected_ns == 0) return; /* already done */
  clock->worth = average(target);
  if (now != 0) {
    if (!clock->is_known) clock->first_ns = first_ns(target, process, now);
    clock->is_known = true;
    uint64_t booked = clock->first_ns + clock->booked_ns;
    uint64_t left = now > booked ? now - booked : 0;
    double most = most_worth(target, tick_ns), worth = (double)left / (double)expected_ns;
    clock->worth = worth < most ? worth : most;
  }
  clock->expected_ns = 0;
}

uint64_t process_clock_take(struct target *target, struct process *process, uint64_t weight_ns) {
  struct process_clock *clock = &process->clock;
  double worth = clock->is_known || clock->worth > 0 ? clock->worth : average(target);
  uint64_t worth_ns = (uint64_t)((double)weight_ns * worth);
  if (worth_ns == 0) worth_ns = 1; /* a record has at least weight 1 */
  target->asked_ns += weight_ns;
  clock->booked_ns += worth_ns;
  return worth_ns;
}
