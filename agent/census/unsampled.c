/* SPDX-License-Identifier: Apache-2.0 */
/* A thread without samples is nothing strange: it sleeps, or has spent less than a period.  What
   counts is CPU time that passed without a signal.  Two amounts of it:

     some   4 periods and 4 ticks: enough where the kernel itself says what is wrong (no handler,
   the signal blocked at two looks, no timer for the thread) much   30 periods and 250 ticks: needed
   where only the missing signals speak.  Nothing else looks like a program that has put its own
   handler in the place of ours; but a program whose bursts are all shorter than a tick may never
   meet one (lock_step.c), and is left in peace.

   Where one clock of the process signals whichever thread runs as it expires, no thread has a
   timer, and that one was not met yet says nothing.

   The order is that of certainty: a process without a handler explains all its threads. */
#include "unsampled.h"

enum { SOME_PERIODS = 4, SOME_TICKS = 4, MUCH_PERIODS = 30, MUCH_TICKS = 250 };

static bool has_spent(const struct unsampled_evidence *evidence, uint64_t periods, uint64_t ticks) {
  return evidence->quiet_ns >= periods * evidence->period_ns &&
         evidence->quiet_ns >= ticks * evidence->tick_ns;
}

/* Why it has no timer, as far as can be seen from outside: that the agent ran out of something is
   the caller's to know. */
static enum unsampled_reason without_timer(const struct unsampled_evidence *evidence) {
  return evidence->is_sandboxed ? UNSAMPLED_SECCOMP : UNSAMPLED_RAW;
}

enum unsampled_reason unsampled_judge(const struct unsampled_evidence *evidence) {
  if (!has_spent(evidence, SOME_PERIODS, SOME_TICKS)) return UNSAMPLED_NOT;
  if (!evidence->is_caught) return evidence->is_replaced ? UNSAMPLED_EXEC : UNSAMPLED_HANDLER_LOST;
  if (evidence->is_blocked) return UNSAMPLED_BLOCKED;
  if (evidence->is_process_clock && !evidence->has_slot) return UNSAMPLED_NOT;
  if (evidence->timer == UNSAMPLED_TIMER_NO) return without_timer(evidence);
  if (evidence->is_bursty || !has_spent(evidence, MUCH_PERIODS, MUCH_TICKS)) return UNSAMPLED_NOT;
  if (evidence->timer == UNSAMPLED_TIMER_YES || evidence->has_slot) return UNSAMPLED_HANDLER_LOST;
  return without_timer(evidence);
}

const char *unsampled_name(enum unsampled_reason reason) {
  static const char *const names[UNSAMPLED_REASONS] = {
      "sampled", "raw", "limit", "seccomp", "blocked", "handler_lost", "exec"};
  return names[reason];
}

const char *unsampled_meaning(enum unsampled_reason reason) {
  static const char *const meanings[UNSAMPLED_REASONS] = {
      "sampled",
      "without a timer (raw clone, or older than the agent)",
      "without a timer (no slot or timer was left)",
      "without a timer (in a seccomp sandbox)",
      "with the signal blocked",
      "in a program that uses SIGURG itself",
      "in a program that was put in the place of the sampled one by exec"};
  return meanings[reason];
}
