/* SPDX-License-Identifier: Apache-2.0 */
/* A perf target is switched from outside, by ioctl on its events, which affects every child that
   inherited them.

   A timer target switches itself, because only a process can delete its own timers, with system
   calls in its signal handler. Two things could hurt it then.

   First, a sandbox that it entered meanwhile may kill it for the call. So a process requests
   permission first. It is permitted only if the kernel reports no more seccomp filters on any
   thread than at registration. A permission is valid for one tick, so that it cannot be used after
   the program has entered a sandbox later. If a process's next sample is not due yet, the
   permission is renewed, after another check if the process has run meanwhile. If timers are to be
   deleted (PAUSE, OFF) no request is needed. The permission is given with the switch, so that the
   first sample applies it and not the second: a program that uses little CPU takes a sample every
   many seconds. That may take LOOKS_MAX checks; then it has to request as well.

   Second, a process without timers takes no sample, so a signal must wake it, which would end the
   poll() of a sleeping thread with EINTR. So only a working thread is nudged, one that does not
   block the signal, and only while the process catches it at all. A thread is working if it is on a
   CPU by the kernel's own counts (process_look.c). On a board with one CPU no other thread is on a
   CPU during the check. There a thread is working under three conditions: it was ready to run at
   the last check and is again, it has used CPU time since, and it never slept. A process that uses
   no CPU is left alone: there is nothing to sample.

   A daemon that shuts down cannot wait for the next sample of a program that uses a hundredth of a
   CPU, and has no successor. So it also nudges processes with timers that have used CPU time since
   the switch, when a thread is working.

   Processes that do not apply a change (a sandbox, a replaced handler) still record nothing while
   paused: the handler checks `control` with every sample. */
#include "switch.h"
#include "claim.h"
#include "process_look.h"
#include "timer_ring.h"

#include "proc/proc_stat.h"
#include "proc/proc_thread.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  NUDGES_MAX = 16, /* of a process for one change; then another owner has the signal */
  LOOKS_MAX = 100, /* at a process without request, for one change */
  WAKES_MAX = 500, /* checks of a process that is to be nudged, at short ticks */
  ROWS_A_LOOK = 8, /* between two checks of the quota */
};

struct switch_watch {
  uint64_t told_cpu_ns; /* of the process when the watch began */
  uint64_t cpu_ns;      /* at its last check */
  uint32_t serial;      /* of nudges, looks and is_refused */
  uint32_t nudges, looks, wakes;
  bool is_wanted; /* more than a varied period, for which no process without timers is woken */
  bool is_waking; /* none of its threads could be nudged yet */
  pid_t running;  /* of the last check, with its CPU time then */
  uint64_t running_cpu_ns, running_sleeps;
  bool is_refused; /* a sandbox never opens again */
};

static void nudge(const struct target *target, pid_t pid, pid_t tid) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_signo = (int)timer_ring_signal(&target->held);
  event.si_code = SI_QUEUE;
  event.si_pid = getpid();
  event.si_uid = getuid();
  event.si_value.sival_ptr = (void *)(uintptr_t)ring_switch_token(&target->ring);
  syscall(SYS_rt_tgsigqueueinfo, pid, tid, event.si_signo, &event);
}

/* Accepts only processes of the registered program: the row is an untrusted claim. */
static bool is_ours(const struct target *target, pid_t pid) {
  struct claim claim = {0};
  if (pid == target->held.pid)
    claim = (struct claim){.pid = pid, .start_ticks = target->held.start_ticks};
  return claim_stands(target, pid, &claim);
}

/* True if the thread of LOOK was also ready to run at the last check, and has worked since. */
static bool is_at_work(pid_t pid, const struct process_look *look, struct switch_watch *watch) {
  uint64_t before_ns = watch->running_cpu_ns;
  bool is_same = look->running != 0 && look->running == watch->running &&
                 look->running_sleeps == watch->running_sleeps;
  watch->running = look->running;
  watch->running_sleeps = look->running_sleeps;
  watch->running_cpu_ns = 0;
  if (look->running == 0) return false;
  if (proc_thread_cpu_ns(pid, look->running, &watch->running_cpu_ns) < 0) return false;
  return is_same && watch->running_cpu_ns > before_ns;
}

/* The thread of LOOK in which a signal would interrupt nothing, or 0. */
static pid_t find_at_work(const struct target *target, pid_t pid, const struct process_look *look,
                          struct switch_watch *watch) {
  bool is_at_both = is_at_work(pid, look, watch);
  if (!look->is_caught) return 0;
  if (process_look_holds(target, pid, look)) return look->on_cpu;
  return is_at_both ? look->running : 0;
}

/* True if the next sample of a process with timers may apply the change without a request. */
static bool is_permitted_unasked(const struct target *target, struct switch_watch *watch) {
  return target->held.control != RING_RUN && watch->looks++ < LOOKS_MAX;
}

/* A period may stay unchanged, so programs that trap system calls need not make any for a new
   one. */
static bool may_obey(const struct process_look *look, const struct switch_watch *watch) {
  return look->may_call && (watch->is_wanted || !look->has_trap);
}

static void wake(struct target *target, unsigned row, const struct ring_process_view *view,
                 struct switch_watch *watch) {
  pid_t pid = (pid_t)view->pid;
  uint32_t serial = ring_switch_serial(&target->ring);
  bool has_timers = view->armed > 0, has_asked = view->asked == serial;
  if (has_timers && !has_asked && !is_permitted_unasked(target, watch)) return;
  if (!has_timers && !has_asked && !watch->is_wanted) return;
  bool is_to_wake = !has_timers && target->held.control == RING_RUN;
  watch->is_waking = is_to_wake && watch->wakes++ < WAKES_MAX;
  uint64_t cpu_ns = proc_cpu_ns(pid);
  bool has_run = cpu_ns != watch->cpu_ns;
  watch->cpu_ns = cpu_ns;
  has_asked |= has_timers;
  if (!has_asked && (!has_run || watch->nudges >= NUDGES_MAX)) return;
  if (!is_ours(target, pid)) return;
  struct process_look look = process_look(target, pid, watch->running);
  watch->is_refused = !may_obey(&look, watch);
  if (watch->is_refused) return;
  pid_t at_work = has_timers ? 0 : find_at_work(target, pid, &look, watch);
  if (!has_asked && at_work == 0) return;
  ring_switch_permit(&target->ring, row, view, serial);
  if (at_work == 0) return;
  watch->nudges++;
  nudge(target, pid, at_work);
}

/* True if PID's threads are as they were when it was permitted. The clock is read first, so a
   thread that runs during the check shows at the next tick. */
static bool may_keep(const struct target *target, const struct ring_process_view *view,
                     struct switch_watch *watch) {
  pid_t pid = (pid_t)view->pid;
  uint64_t cpu_ns = proc_cpu_ns(pid);
  if (view->permitted != watch->serial || view->seen == watch->serial) return false;
  if (view->armed == 0 || view->has_left) return false; /* no sample will come: it needs a nudge */
  if (cpu_ns == watch->cpu_ns) return true;
  watch->cpu_ns = cpu_ns;
  if (view->asked != watch->serial && ++watch->looks > LOOKS_MAX) return false;
  struct process_look look = process_look(target, pid, 0);
  return is_ours(target, pid) && may_obey(&look, watch);
}

static void step_row(struct target *target, unsigned row) {
  struct ring_process_view view;
  target->watches[row].is_waking = false; /* also for a process that is gone */
  ring_switch_look(&target->ring, row, &view);
  if (view.pid == 0) return;
  if ((pid_t)view.pid < 0 || (kill((pid_t)view.pid, 0) != 0 && errno == ESRCH)) {
    ring_switch_free(&target->ring, row, &view);
    return;
  }
  uint32_t serial = ring_switch_serial(&target->ring);
  struct switch_watch *watch = &target->watches[row];
  if (watch->serial != serial) {
    bool is_owed = watch->is_wanted && view.seen != watch->serial;
    *watch = (struct switch_watch){.serial = serial,
                                   .told_cpu_ns = proc_cpu_ns((pid_t)view.pid),
                                   .is_wanted = is_owed || serial != target->rate.varied_serial};
  }
  if (view.permitted != 0 && may_keep(target, &view, watch)) return;
  if (view.permitted != 0) {
    ring_switch_permit(&target->ring, row, &view, 0);
    ring_switch_look(&target->ring, row, &view);
  }
  if (view.seen != serial && !view.has_left && !watch->is_refused) wake(target, row, &view, watch);
}

/* NULL if nothing was ever switched, by this worker or another, or memory is short. */
static struct switch_watch *watches_of(struct target *target) {
  if (target->watches == NULL && ring_switch_serial(&target->ring) != 0)
    target->watches = calloc(RING_PROCESSES_MAX, sizeof *target->watches);
  return target->watches;
}

void switch_step(struct target *target) {
  if (target->held.kind != HOLD_TIMER || watches_of(target) == NULL) return;
  if (!toll_begin(&target->toll, TOLL_TURN_MS)) return;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    step_row(target, row);
    if (row % ROWS_A_LOOK == 0 && toll_is_over(&target->toll)) break;
  }
  toll_end(&target->toll);
}

bool switch_is_waking(const struct target *target) {
  if (target->watches == NULL || target->held.kind != HOLD_TIMER) return false;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++)
    if (target->watches[row].is_waking) return true;
  return false;
}

/* True if the process in ROW has timers to delete, may delete them, and has used CPU time since it
   was notified. */
static bool has_worked(const struct target *target, unsigned row,
                       const struct ring_process_view *view) {
  const struct switch_watch *watch = &target->watches[row];
  if (view->pid == 0 || view->has_left || view->armed == 0) return false;
  if (watch->serial != ring_switch_serial(&target->ring) || watch->is_refused) return false;
  return proc_cpu_ns((pid_t)view->pid) > watch->told_cpu_ns;
}

static void press_row(struct target *target, unsigned row) {
  struct ring_process_view view;
  struct switch_watch *watch = &target->watches[row];
  ring_switch_look(&target->ring, row, &view);
  pid_t pid = (pid_t)view.pid;
  if (!has_worked(target, row, &view) || view.permitted != watch->serial) return;
  if (watch->nudges >= NUDGES_MAX || !is_ours(target, pid)) return;
  struct process_look look = process_look(target, pid, watch->running);
  pid_t at_work = look.may_call ? find_at_work(target, pid, &look, watch) : 0;
  if (at_work == 0) return;
  watch->nudges++;
  nudge(target, pid, at_work);
}

bool switch_press(struct target *target) {
  struct ring_process_view view;
  bool is_hopeful = false;
  if (target->held.kind != HOLD_TIMER || target->held.control == RING_RUN) return false;
  if (target->watches == NULL) return false;
  bool may_press = toll_begin(&target->toll, TOLL_TURN_MS);
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    if (may_press && !toll_is_over(&target->toll)) press_row(target, row);
    ring_switch_look(&target->ring, row, &view);
    is_hopeful |= has_worked(target, row, &view);
  }
  if (may_press) toll_end(&target->toll);
  return is_hopeful;
}

void switch_publish(struct target *target) {
  if (target->held.kind != HOLD_TIMER) return;
  ring_switch_raise(&target->ring);
  switch_step(target);
}

uint32_t switch_timers_left(const struct target *target) {
  struct ring_process_view view;
  uint32_t left = 0;
  if (target->held.kind != HOLD_TIMER || target->held.control == RING_RUN) return 0;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    if (view.pid == 0 || view.has_left || view.armed == 0) continue;
    left += view.armed < RING_SLOTS_MAX ? view.armed : RING_SLOTS_MAX;
  }
  return left;
}

void switch_take_back(struct target *target) {
  struct ring_process_view view;
  if (target->held.kind != HOLD_TIMER) return;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    if (view.pid != 0 && view.permitted != 0) ring_switch_permit(&target->ring, row, &view, 0);
  }
}

static int switch_events(const struct target *target, bool is_on) {
  unsigned long what = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
  int error = 0;
  for (uint32_t i = 0; i < target_events(target); i++)
    if (ioctl(target_event(target, i), what, 0) != 0) error = -errno;
  return error;
}

int switch_target(struct target *target, enum ring_control control) {
  target->rate.rest_mhz = target_achieved_mhz(target);
  if (target->held.kind != HOLD_TIMER) {
    int error = switch_events(target, control == RING_RUN);
    target->residual.kernel.is_blind = true;
    if (error == 0) target->held.control = control;
    return error;
  }
  target->held.control = control;
  ring_switch_set_control(&target->ring, control);
  switch_publish(target);
  return 0;
}
