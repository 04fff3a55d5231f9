/* SPDX-License-Identifier: Apache-2.0 */
/* Events can end before their program does.  The kernel removes them from a process that gains
   privileges by an exec.  A new worker may fail to map the rings again.  A process that may inspect
   the daemon can switch them off.  None of this is reported.  So the clock of the program's process
   is compared with its tree's event counts: at least a quarter of the CPU time must have been
   counted, once there is enough of it. (The other three quarters allow for clocks that are read in
   sequence, and for time within task switches, which no event counts.)

   While the target is paused, its events count nothing, as intended. */
#include "ladder_look.h"

#include "common/clock.h"
#include "drain/target_state.h"
#include "proc/proc_stat.h"
#include "ring/switch_format.h"
#include "targets/targets.h"

enum { SEEN_PART = 4 };
#define ENOUGH_CPU_NS (300 * NS_PER_MS)

static void mark(struct target *target, uint64_t now, uint64_t cpu_ns) {
  target->look.looked_ns = now;
  target->look.cpu_ns = cpu_ns;
  target->look.counted_ns = target->residual.counted_ns;
}

/* The clock is read before and after the events.  Working events counted the time between the last
   look's later reading and this look's earlier reading, however long this process waited for the
   CPU. */
static bool has_stopped_counting(struct target *target, uint64_t now) {
  const struct target_look *look = &target->look;
  uint64_t before_ns = proc_cpu_ns(target->held.pid);
  target_read_total(target);
  uint64_t cpu_ns = proc_cpu_ns(target->held.pid);
  bool is_first = look->looked_ns == 0 || before_ns < look->cpu_ns;
  uint64_t spent_ns = is_first ? 0 : before_ns - look->cpu_ns;
  uint64_t seen_ns = target->residual.counted_ns - look->counted_ns;
  if (!is_first && spent_ns < ENOUGH_CPU_NS) return false;
  mark(target, now, cpu_ns);
  return spent_ns >= ENOUGH_CPU_NS && seen_ns < spent_ns / SEEN_PART;
}

static const char *judge(struct target *target, uint64_t now) {
  if (target_none_since_ns(target) != 0)
    return target->is_unmapped ? target->perf->why : "its events went bad";
  if (target_has_hung_up(target)) {
    bool is_sure = target->look.has_hung_up; /* at an exit events end a moment before the process */
    target->look.has_hung_up = true;
    return is_sure ? "the kernel took its events away (an exec that gains rights)" : NULL;
  }
  if (has_stopped_counting(target, now)) return "its events count no more";
  return NULL;
}

const char *ladder_look(struct target *target, uint64_t now) {
  if (target->look.stopped != NULL) return target->look.stopped;
  if (target->held.control != RING_RUN || target->held.is_killed) {
    target->look.looked_ns = 0;
    return NULL;
  }
  const char *why = judge(target, now);
  if (why == NULL || !proc_lives(target->held.pid, target->held.start_ticks)) return NULL;
  target_stop(target, why);
  return why;
}
