/* SPDX-License-Identifier: Apache-2.0 */
/* An interval timer runs on the clock that the kernel's tick fills: each tick is billed whole to
   whoever runs as it comes.  On a machine that is shared with others, or for a program that keeps
   in step with the tick, that clock is off: 20 % too fast was measured, at every rate.  The shares
   are as good as any; the sum is not.

   The exact clock of a process can be read from outside.  So the records of a process never come to
   more than what it has spent since it registered (a forked child: since its start): where they
   would, all that are drained at once are worth as much less.  The tick delivers one expiry at most
   and does not say how many it merged: where the records come to less than the process has spent,
   each is worth more, up to a tick more than a period.  Not so where signals met threads without a
   slot, whose time would be billed to others, nor on the clock of user time.  What is left is
   [unsampled] at the end of a run (run_note.c).

   A process that is gone before its last records are drained has no clock any more: they are worth
   what those of its target were on the average.  Histograms and recorders hold expiries as they
   came. */
#include "process_clock.h"
#include "process_entry.h"
#include "target.h"

void process_clock_expect(struct process *process, uint64_t weight_ns) {
  process->clock.expected_ns += weight_ns;
}

/* The part of its clock that was there before PROCESS could be sampled. */
static uint64_t first_ns(const struct target *target, const struct process *process, uint64_t now) {
  uint64_t expected_ns = process->clock.expected_ns;
  /* What an earlier worker has booked of it is not known. */
  if (target->is_restored) return now > expected_ns ? now - expected_ns : 0;
  return process->pid == target->held.pid ? target->held.start_cpu_ns : 0;
}

static double average(const struct target *target) {
  if (target->asked_ns == 0) return 1;
  return (double)target->weight_ns / (double)target->asked_ns;
}

/* The most that a record is worth, in parts of what its signal says. */
static double most_worth(const struct target *target, uint64_t tick_ns) {
  uint64_t period_ns = target->held.set_period_ns;
  if (period_ns == 0) period_ns = target->held.period_ns;
  if (target->held.clock != RING_CLOCK_PROF || period_ns == 0) return 1;
  return ring_reader_strayed(&target->ring) == 0 ? 1 + (double)tick_ns / (double)period_ns : 1;
}

void process_clock_settle(const struct target *target, struct process *process, uint64_t tick_ns) {
  struct process_clock *clock = &process->clock;
  uint64_t expected_ns = clock->expected_ns, now = proc_cpu_ns(process->pid);
  if (expected_ns == 0) return; /* settled already */
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
  if (worth_ns == 0) worth_ns = 1; /* no record weighs nothing */
  target->asked_ns += weight_ns;
  clock->booked_ns += worth_ns;
  return worth_ns;
}
