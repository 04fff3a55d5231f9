/* SPDX-License-Identifier: Apache-2.0 */
/* A thread in state R may have just been woken, wait for a CPU and still be inside its poll(): a
   signal would end that with EINTR. But the kernel counts how often a thread was put on a CPU
   (schedstat) and how often it has left one (status: voluntarily, and preempted). It is on a CPU
   exactly while the first count is one more than the second. The two are read one after the other,
   so

     left n ─▶ put on n + 1 times ─▶ left n

   means that it is on a CPU at the last read, and has been at least since the middle one: the
   duration of the whole check. A thread that runs for so long has dealt with the event that woke
   it. It is nearly never asleep again within the few microseconds of the signal's delivery.

   If the kernel does not count (no CONFIG_SCHED_INFO) no thread is ever found on a CPU. */
#include "process_look.h"
#include "timer_ring.h"

#include "proc/proc_status.h"
#include "proc/proc_thread.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 4096 /* threads checked of a process; with more it is not permitted */ };

static bool may_call(const struct target *target, const struct proc_status *status) {
  if (status->seccomp == 0) return true;
  return status->filters != PROC_FILTERS_UNKNOWN && status->filters == target->held.filters;
}

static uint64_t signal_bit(const struct target *target) {
  return UINT64_C(1) << (timer_ring_signal(&target->held) - 1);
}

static bool can_take(const struct target *target, const struct proc_status *status) {
  return status->state == 'R' && (status->blocked & signal_bit(target)) == 0;
}

static void look_at_thread(const struct target *target, pid_t pid, pid_t tid,
                           struct process_look *look) {
  struct proc_status status;
  struct proc_schedstat schedstat;
  if (proc_status_read(pid, tid, &status) != 0) return; /* it has ended */
  if (!may_call(target, &status)) look->may_call = false;
  look->is_caught = (status.caught & signal_bit(target)) != 0;
  look->has_trap = (status.caught & UINT64_C(1) << (SIGSYS - 1)) != 0;
  if (!can_take(target, &status)) return;
  if (look->running != look->wanted || look->running == 0) {
    look->running = tid;
    look->running_sleeps = status.sleeps;
  }
  uint64_t leaves = status.sleeps + status.pushes;
  if (proc_schedstat_read(pid, tid, &schedstat) != 0 || schedstat.turns != leaves + 1) return;
  look->on_cpu = tid;
  look->leaves = leaves;
}

struct process_look process_look(const struct target *target, pid_t pid, pid_t wanted) {
  struct process_look look = {.may_call = true, .wanted = wanted};
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return (struct process_look){.may_call = false};
  unsigned count = 0;
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (++count > THREADS_MAX) look.may_call = false;
    if (!look.may_call) break;
    look_at_thread(target, pid, (pid_t)strtol(entry->d_name, NULL, 10), &look);
  }
  closedir(tasks);
  return look;
}

bool process_look_holds(const struct target *target, pid_t pid, const struct process_look *look) {
  struct proc_status status;
  if (look->on_cpu == 0 || proc_status_read(pid, look->on_cpu, &status) != 0) return false;
  return may_call(target, &status) && can_take(target, &status) &&
         status.sleeps + status.pushes == look->leaves;
}
