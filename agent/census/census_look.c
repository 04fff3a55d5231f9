/* SPDX-License-Identifier: Apache-2.0 */
/* Checks one thread: CPU time, signal mask and sleeps, compared with the last look.

   A thread with signals in its slot is sampled, regardless of everything else. The kernel's list of
   timers is read only for a quiet thread, and at most once for each process and look.

   If all threads count together (histogram), a signal may belong to any thread. It does not count
   for a thread with the signal blocked or without a timer.

   A mark needs wake-ups that seem synchronized with the tick at three looks in a row, or records
   that no fair tick makes (lock_step.c). */
#include "census_parts.h"

#include "common/array.h"
#include "common/clock.h"
#include "proc/proc_status.h"
#include "proto/batch.h"
#include "ring/ring_switch.h"
#include "targets/timer_ring.h"

#include <stdlib.h>

enum { LOCKED_LOOKS = 3 };

/* Finds or adds the thread's entry. NULL if memory is short. */
static struct census_thread *thread_of(struct census *census, pid_t pid, pid_t tid) {
  for (uint32_t i = 0; i < census->thread_count; i++)
    if (census->threads[i].tid == tid && census->threads[i].pid == pid) return &census->threads[i];
  struct census_thread *threads =
      array_grow(census->threads, census->thread_count, &census->thread_cap, CENSUS_ROWS_STEP,
                 sizeof *threads);
  if (threads == NULL) return NULL;
  census->threads = threads;
  struct census_thread *thread = &census->threads[census->thread_count++];
  *thread = (struct census_thread){.pid = pid, .tid = tid};
  return thread;
}

static enum unsampled_timer has_timer(const struct target *target, pid_t pid, pid_t tid) {
  if (target->held.clock != RING_CLOCK_THREAD) return UNSAMPLED_TIMER_YES; /* the process has one */
  struct census *census = target->census;
  if (census->timers == NULL) {
    census->timers = malloc(sizeof *census->timers);
    census->timers_pid = 0;
  }
  if (census->timers == NULL) return UNSAMPLED_TIMER_UNKNOWN;
  if (census->timers_pid != pid)
    proc_timers_read(pid, (int)timer_ring_signal(&target->held), census->timers);
  census->timers_pid = pid;
  if (!census->timers->is_known) return UNSAMPLED_TIMER_UNKNOWN;
  return proc_timers_has(census->timers, tid) ? UNSAMPLED_TIMER_YES : UNSAMPLED_TIMER_NO;
}

/* Only filters that the program installed itself: a container's filter around it permits timers. */
static uint32_t filters_at_start(const struct target *target) {
  return target->held.filters == PROC_FILTERS_UNKNOWN ? 0 : target->held.filters;
}

/* If the agent has counted anything (for example a signal already in use), it has found the
   ring. */
static bool is_unmet(const struct target *target, pid_t pid) {
  return pid == target->held.pid && ring_reader_unsampled(&target->ring) == 0 &&
         !ring_switch_has_entered(&target->ring, (uint32_t)pid);
}

static bool is_shared(const struct target *target) {
  return target->held.collect == RING_HISTOGRAM;
}

/* True if the thread's slot shows that it had a timer. Without slots: if the process reports more
   threads with a timer than the kernel knows. */
static bool had_timer(const struct target *target, const struct census_thread *thread) {
  const struct census *census = target->census;
  if (!is_shared(target)) return census_find_slot(census, thread->pid, thread->tid) != NULL;
  bool is_known = census->timers != NULL && census->timers_pid == thread->pid;
  return is_known && census->timers->is_known &&
         census->timers->count < ring_switch_armed(&target->ring, (uint32_t)thread->pid);
}

static bool is_blocked(const struct target *target, const struct census_thread *thread,
                       const struct proc_status *status) {
  uint64_t bit = UINT64_C(1) << ((int)timer_ring_signal(&target->held) - 1);
  return thread->was_blocked && (status->blocked & bit) != 0;
}

/* True if signals of unknown threads cannot be THREAD's. */
static bool is_out_of_reach(const struct target *target, const struct census_thread *thread,
                            const struct proc_status *status) {
  return is_blocked(target, thread, status) ||
         has_timer(target, thread->pid, thread->tid) == UNSAMPLED_TIMER_NO;
}

static enum unsampled_reason judge(const struct target *target, const struct census_thread *thread,
                                   const struct proc_status *status, bool is_bursty) {
  const struct census *census = target->census;
  uint64_t bit = UINT64_C(1) << ((int)timer_ring_signal(&target->held) - 1);
  enum ring_left left = ring_switch_has_left(&target->ring, (uint32_t)thread->pid);
  struct unsampled_evidence evidence = {
      .quiet_ns = thread->quiet_ns,
      .period_ns = target->held.period_ns,
      .tick_ns = lock_step_tick_ns(),
      .is_cramped = left == RING_LEFT_CRAMPED,
      .is_caught = (status->caught & bit) != 0 && left == RING_LEFT_NOT,
      .is_unmet = is_unmet(target, thread->pid),
      .is_replaced = census->is_replaced && thread->pid == target->held.pid,
      .is_blocked = is_blocked(target, thread, status),
      .is_sandboxed = status->seccomp != 0 && status->filters > filters_at_start(target),
      .is_bursty = is_bursty,
      .is_process_clock = target->held.clock != RING_CLOCK_THREAD,
      .had_timer = had_timer(target, thread),
      .timer = UNSAMPLED_TIMER_NO};
  if (unsampled_judge(&evidence) == UNSAMPLED_NOT) return UNSAMPLED_NOT; /* even at the worst */
  evidence.timer = has_timer(target, thread->pid, thread->tid);
  evidence.had_timer = had_timer(target, thread); /* the list has been read now */
  return unsampled_judge(&evidence);
}

static uint32_t mark_of(const struct target *target, struct census_thread *thread,
                        const struct lock_step_pace *pace, const struct census_slot *slot) {
  uint64_t tick_ns = lock_step_tick_ns();
  bool is_locked = lock_step_is_locked(pace, tick_ns);
  thread->locked_looks = is_locked && thread->locked_looks < LOCKED_LOOKS
                             ? (uint8_t)(thread->locked_looks + 1)
                             : (uint8_t)(is_locked ? LOCKED_LOOKS : 0);
  if (!lock_step_is_bursty(pace, tick_ns)) return 0;
  bool is_unfair =
      slot != NULL && lock_step_is_unfair(&slot->tally, target->held.period_ns, tick_ns);
  return is_unfair || thread->locked_looks == LOCKED_LOOKS ? MARK_LOCK_STEP_LIKELY
                                                           : MARK_LOCK_STEP_POSSIBLE;
}

/* Compares the thread with its state at the last look. */
void census_look_at(struct target *target, pid_t pid, pid_t tid) {
  struct proc_status status;
  uint64_t cpu_ns, now = clock_monotonic_ns();
  struct census *census = target->census;
  if (proc_status_read(pid, tid, &status) < 0 || proc_thread_cpu_ns(pid, tid, &cpu_ns) < 0) return;
  struct census_thread *thread = thread_of(census, pid, tid);
  if (thread == NULL) return;
  const struct census_slot *slot = census_find_slot(census, pid, tid);
  uint64_t signals = slot != NULL ? slot->signals : census->shared_signals;
  uint64_t bit = UINT64_C(1) << ((int)timer_ring_signal(&target->held) - 1);
  bool is_first = thread->read_ns == 0;
  struct lock_step_pace pace = {now - thread->read_ns, cpu_ns - thread->cpu_ns,
                                status.sleeps - thread->sleeps};
  if (is_first || cpu_ns < thread->cpu_ns) pace = (struct lock_step_pace){0};
  thread->spent_ns = pace.cpu_ns;
  bool is_heard = signals != thread->signals;
  if (is_heard && is_shared(target)) is_heard = !is_out_of_reach(target, thread, &status);
  thread->quiet_ns = is_heard || census->is_deaf ? 0 : thread->quiet_ns + pace.cpu_ns;
  thread->marks = is_first ? 0 : mark_of(target, thread, &pace, slot);
  thread->reason = judge(target, thread, &status, lock_step_is_bursty(&pace, lock_step_tick_ns()));
  thread->was_blocked = (status.blocked & bit) != 0;
  thread->cpu_ns = cpu_ns;
  thread->sleeps = status.sleeps;
  thread->signals = signals;
  thread->read_ns = now;
  thread->look = census->look;
}
