/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time spent in a pause has no sample, so it appears in the rest. For a perf target that is
   immediate. For a timer target it is when the process that spent it ends, which may be days after
   the resume. Until then other processes end, children that began after the pause, and their rest
   is unrelated to it.

   A rest is computed from sums (exit_bill.c), so it cannot be attributed to a process. But once it
   is reported, it includes all processes that had ended by then. So:

     a process ended in the pause, or later and      the next rests are marked
     had begun before the resume
     none of them lives, and their rest was         the pause is over
     reported

   "The next" are two batches, because the sums are as old as the drain, and a process may end
   between that and the check. If a ring has no free row, a process may be without one, so all rests
   are marked. */
#include "pause.h"
#include "target.h"

#include "common/clock.h"
#include "proc/proc_stat.h"
#include "ring/ring_switch.h"

enum { MARKED_BATCHES = 2 };

static bool began_before(pid_t pid, uint64_t until_ns) {
  struct proc_stat stat;
  return proc_stat_read(pid, &stat) == 0 && !proc_stat_is_over(&stat) &&
         proc_ticks_to_ns(stat.start_ticks) <= until_ns;
}

/* Returns true if all processes are known. */
static bool count_living(const struct target *target, uint32_t *ret_living) {
  struct ring_process_view view;
  bool has_free = false;
  *ret_living = proc_lives(target->held.pid, target->held.start_ticks);
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    has_free |= view.pid == 0;
    if (view.pid == 0 || (pid_t)view.pid == target->held.pid) continue;
    *ret_living += began_before((pid_t)view.pid, target->pause.until_ns);
  }
  return has_free;
}

static uint64_t gone_ns(const struct target *target) {
  if (target->held.kind != HOLD_TIMER) return 0;
  return ring_reader_exit_cpu_ns(&target->ring) + target->exit.execed_ns;
}

void pause_begin(struct target *target) {
  target->held.has_paused = true;
  target->pause.until_ns = 0;
  target->pause.gone_ns = gone_ns(target);
}

void pause_end(struct target *target) {
  struct pause *pause = &target->pause;
  if (!target->held.has_paused || pause->until_ns != 0 || target->held.kind != HOLD_TIMER) return;
  pause->until_ns = clock_boottime_ns();
  if (gone_ns(target) != pause->gone_ns) pause->due = MARKED_BATCHES;
  count_living(target, &pause->living);
}

void pause_look(struct target *target, bool is_final) {
  struct pause *pause = &target->pause;
  uint32_t living;
  if (!target->held.has_paused || target->held.control != RING_RUN) return;
  pause_end(target); /* a pause from before this worker */
  bool is_whole = count_living(target, &living);
  if (is_final || !is_whole || living < pause->living) pause->due = MARKED_BATCHES;
  pause->living = living;
  target->held.has_paused = living > 0 || pause->due > 0;
}

bool pause_is_in_rest(const struct target *target) {
  const struct pause *pause = &target->pause;
  return target->held.has_paused && (pause->until_ns == 0 || pause->due > 0);
}

void pause_mark(struct target *target) {
  struct hold_target *held = &target->held;
  if (held->kind == HOLD_PERF)
    held->has_paused = held->control != RING_RUN || held->is_killed;
  else if (target->pause.due > 0)
    target->pause.due--;
}
