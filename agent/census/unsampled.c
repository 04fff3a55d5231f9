/* SPDX-License-Identifier: Apache-2.0 */
/* A thread without samples is normal: it sleeps, or has spent less than a period. The criterion is
   CPU time without a signal. There are two thresholds:

     some   4 periods and 4 ticks: enough if the kernel itself shows the cause
            (no handler, the signal blocked at two looks, no timer for the thread)
     much   30 periods and 250 ticks: needed if only the missing signals show it

   Only a program that has replaced the agent's handler looks like the latter. A program with all
   bursts shorter than a tick may never meet one (lock_step.c), and is exempt.

   A thread that once had signals and now has no timer has lost it. Only the program can have
   deleted it: the agent does so at a thread's end, while it is paused and after it has left, when
   threads are not checked.

   If one clock of the process signals the running thread, no thread has a timer, and a missing one
   means nothing.

   Reasons are checked in order of certainty. A process without a handler explains all its threads.
   It may have executed another program, or have replaced the agent's handler. Or it never had one:
   the agent waits only as long as a start may take, and the ring came later.

   A sampler has failed in two cases. A deleted handler or timer does not return, so a quarter of
   the CPU time at two looks is enough: less cannot change the shares much. Two looks, because the
   kernel has already deleted the timers of a program that is ending. A blocked signal usually does
   return: programs block all signals for a moment, and the expiry waits. So threads that are only
   out of reach (blocked, or without a timer) must use nearly all CPU time at five looks in a row.
   Until then it is reported as [unsampled]. */
#include "unsampled.h"

enum { FAILED_SHARE = 4, LIGHT_SHARE = 16 }; /* 1/this of the CPU time */
enum { SOME_PERIODS = 4, SOME_TICKS = 4, MUCH_PERIODS = 30, MUCH_TICKS = 250 };

static bool has_spent(const struct unsampled_evidence *evidence, uint64_t periods, uint64_t ticks) {
  return evidence->quiet_ns >= periods * evidence->period_ns &&
         evidence->quiet_ns >= ticks * evidence->tick_ns;
}

/* The reason why it has no timer, as far as visible from outside. The caller adds whether the agent
   ran out of slots or timers. */
static enum unsampled_reason without_timer(const struct unsampled_evidence *evidence) {
  if (evidence->had_timer && evidence->timer == UNSAMPLED_TIMER_NO) return UNSAMPLED_DELETED;
  return evidence->is_sandboxed ? UNSAMPLED_SECCOMP : UNSAMPLED_RAW;
}

static enum unsampled_reason without_handler(const struct unsampled_evidence *evidence) {
  if (evidence->is_replaced) return UNSAMPLED_EXEC;
  return evidence->is_unmet ? UNSAMPLED_UNMET : UNSAMPLED_HANDLER_LOST;
}

enum unsampled_reason unsampled_judge(const struct unsampled_evidence *evidence) {
  if (!has_spent(evidence, SOME_PERIODS, SOME_TICKS)) return UNSAMPLED_NOT;
  if (evidence->is_cramped) return UNSAMPLED_CRAMPED;
  if (!evidence->is_caught) return without_handler(evidence);
  if (evidence->is_blocked) return UNSAMPLED_BLOCKED;
  if (evidence->is_process_clock && !evidence->had_timer) return UNSAMPLED_NOT;
  if (evidence->timer == UNSAMPLED_TIMER_NO) return without_timer(evidence);
  if (evidence->is_bursty || !has_spent(evidence, MUCH_PERIODS, MUCH_TICKS)) return UNSAMPLED_NOT;
  if (evidence->timer == UNSAMPLED_TIMER_YES || evidence->had_timer) return UNSAMPLED_HANDLER_LOST;
  return without_timer(evidence);
}

const char *unsampled_name(enum unsampled_reason reason) {
  static const char *const names[UNSAMPLED_REASONS] = {
      "sampled", "raw", "limit", "seccomp", "blocked", "handler_lost", "exec", "deleted", "unmet",
      "no_room"};
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
      "in a program that was put in the place of the sampled one by exec",
      "without the timer that it had (the program deleted it)",
      "in a program whose agent had no answer in time: the daemon was busy",
      "without a timer (no room for a signal on its stack; 16 KiB are enough)"};
  return meanings[reason];
}

bool unsampled_is_for_good(enum unsampled_reason reason) {
  return reason == UNSAMPLED_HANDLER_LOST || reason == UNSAMPLED_EXEC ||
         reason == UNSAMPLED_DELETED || reason == UNSAMPLED_UNMET || reason == UNSAMPLED_CRAMPED;
}

/* The number of looks in a row, including this one. */
static uint32_t count_look(uint32_t before, bool is_so) {
  if (!is_so) return 0;
  return before < UNSAMPLED_PATIENCE ? before + 1 : before;
}

bool unsampled_has_failed(struct unsampled_looks *looks, const struct unsampled_sum *sum) {
  uint64_t light_ns = sum->all_ns - sum->dark_ns;
  bool is_dark = sum->dark_ns > 0 && light_ns <= sum->all_ns / LIGHT_SHARE;
  bool is_lost = sum->lost_ns > 0 && sum->lost_ns >= sum->all_ns / FAILED_SHARE;
  looks->lost = count_look(looks->lost, is_lost);
  looks->dark = count_look(looks->dark, is_dark);
  return looks->lost >= UNSAMPLED_TWICE || looks->dark == UNSAMPLED_PATIENCE;
}

bool unsampled_is_blind(struct unsampled_looks *looks, const struct unsampled_sum *sum) {
  bool is_blind = sum->unsampled > 0 && sum->unsampled == sum->threads;
  looks->blind = count_look(looks->blind, is_blind);
  uint32_t patience = sum->lost == sum->unsampled ? UNSAMPLED_TWICE : UNSAMPLED_PATIENCE;
  return looks->blind >= patience;
}
