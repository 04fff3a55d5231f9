/* SPDX-License-Identifier: Apache-2.0 */
/* The samplers are perf and timer.  A name only selects the start; when a sampler stops, the next
   one that works follows.

      auto -> perf, opened from here; it stops -> perf once more; refused -> the ring
      timer; it has failed (census.h), a stack has no room for a signal, or no agent registered
         -> perf, opened from here

   A program with the agent always gets a ring.  While perf samples it, the ring is paused as a
   standby, so there is no timer and no signal.  If perf stops, the ring is started, as by `ctl
   resume`.  A standby target is in no account and no list.

   There is one opener per process tree: descendants inherit the events, so they get nothing when
   they register.  The kernel's records show whether a process has inherited them; if records were
   lost, its parents do. (A different service name in a child is ignored: events cannot be removed
   from a single child.)

   A stray is a process in a run by timer that no sampler reaches.  Its agent does not see the
   daemon's socket (another mount namespace), was not loaded (a cleared environment, a static
   program), or could not register; it does not catch the agent's signal.  Strays are searched while
   their run continues, with pauses that double while none is found, and are sampled by perf.  If
   perf is refused, the run reports that, and the strays' observed CPU time is part of the run's
   time: a parent that does not wait for its child leaves the child out of the accounting that `run`
   gets.

   A fallback is retried after RETRY_NS, and perf is reopened at most FALLS_MAX times: repeated
   removal of the events is intentional. */
#include "ladder.h"
#include "ladder_look.h"
#include "sweep.h"

#include "census/census.h"
#include "common/clock.h"
#include "common/log.h"
#include "drain/target_state.h"
#include "elf/preload_obstacle.h"
#include "proc/proc_status.h"
#include "ring/ring_clock.h"
#include "targets/perf_admission.h"
#include "targets/perf_running.h"
#include "targets/rate.h"
#include "targets/switch.h"
#include "targets/timer_ring.h"

#include <stdio.h>
#include <string.h>

static const char only_the_agent[] = "cannot write what was asked for, only the agent can";
static const char only_the_agent_end[] = "only the agent can"; /* as in `run` */

const char ladder_foreign_pids[] = "the process is in another pid namespace";

enum { ANCESTORS_MAX = 32, FALLS_MAX = 3 };
enum { TREE_MAX = 256, STRAYS_MAX = 16 }; /* per run: processes examined; perf targets opened */
#define STRAY_CPU_NS (200 * NS_PER_MS)    /* enough to decide, and for perf to be useful */
#define STRAY_PAUSE_NS_MAX (64 * NS_PER_SECOND)
#define RETRY_NS (60 * NS_PER_SECOND)
#define STEP_NS NS_PER_SECOND
#define STEP_YOUNG_NS (100 * NS_PER_MS)   /* a launcher (chroot, unshare) execs at once */
#define AGENT_NS (700 * NS_PER_MS)        /* an agent registers within milliseconds of exec */
#define TICK_OF_START_NS (20 * NS_PER_MS) /* start times have a resolution of 10 ms */

static bool does_sample(const struct target *target) {
  return target->held.kind == HOLD_PERF && target_none_since_ns(target) == 0 &&
         !target_has_hung_up(target);
}

static struct target *find_sampling(const struct worker *worker, pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.pid == pid && does_sample(target)) return target;
  }
  const struct process *process = processes_find(worker->processes, pid);
  struct target *target = process ? targets_find(&worker->targets, process->target) : NULL;
  return target != NULL && does_sample(target) ? target : NULL;
}

/* A child that is older than the events has not inherited them. */
static bool is_older(const struct proc_stat *stat, const struct target *target) {
  return proc_ticks_to_ns(stat->start_ticks) + TICK_OF_START_NS < target->held.adopted_ns;
}

struct target *ladder_cover(const struct worker *worker, pid_t pid) {
  struct proc_stat stat, own;
  struct target *target = find_sampling(worker, pid);
  if (target != NULL) return target;
  if (proc_stat_read(pid, &own) < 0) return NULL;
  stat = own;
  for (unsigned up = 0; target == NULL && stat.parent > 1 && up < ANCESTORS_MAX; up++) {
    target = find_sampling(worker, stat.parent);
    if (target == NULL && proc_stat_read(stat.parent, &stat) < 0) return NULL;
  }
  return target == NULL || is_older(&own, target) ? NULL : target;
}

const char *ladder_perf_obstacle(const struct worker *worker,
                                 const struct intake_request *request) {
  bool is_dormant = request->is_dormant || worker->settings->is_dormant;
  if (request->collect > RING_PC_LR) return only_the_agent;
  if (request->clock != RING_CLOCK_THREAD) return "another clock was asked for by name";
  if (strcmp(request->sampler, "perf") == 0) return NULL;
  if (request->sampler[0] != '\0' && strcmp(request->sampler, "auto") != 0)
    return "another sampler was asked for by name";
  return is_dormant ? "not opened for a program that starts dormant" : NULL;
}

/* Prepends WHY to HELD's reasons; older reasons are cut if they do not fit. */
static void say_why(struct hold_target *held, const char *sampler, const char *why) {
  char before[INTAKE_WHY_BYTES];
  memcpy(before, held->why, sizeof before);
  snprintf(held->why, sizeof held->why, "%s: %s%s%.140s", sampler, why, before[0] ? "; " : "",
           before);
}

/* Opens events on the registering program, as described by PERF. */
static struct target *begin(struct worker *worker, const struct hold_target *perf,
                            struct hold_target *held) {
  const char *fault;
  struct perf_running running = {.count = 1};
  running.processes[0].pid = held->pid;
  running.processes[0].start_ticks = held->start_ticks;
  struct ladder_wish wish = {perf, &running, held->begin_cpu_ns, .is_fresh = true};
  struct target *target = ladder_adopt(worker, &wish, &fault);
  if (target != NULL)
    perf_running_start(&target->held, target->fds);
  else
    say_why(held, "perf", fault);
  return target;
}

struct target *ladder_begin(struct worker *worker, struct hold_target *held) {
  struct hold_target perf = *held;
  /* There is no obstacle; an agent that does not sample has given the reason why perf is the only
     way. */
  if (held->control == RING_RUN) perf.why[0] = '\0';
  return begin(worker, &perf, held);
}

struct target *ladder_begin_without_ring(struct worker *worker, struct hold_target *held,
                                         const char *why) {
  held->why[0] = '\0';
  say_why(held, ring_clock_sampler(held->clock), why);
  return begin(worker, held, held);
}

static void tell_keeper(const struct worker *worker, const struct target *target) {
  int error = hold_send_update(worker->keeper->worker_socket, &target->held);
  if (error)
    log_debug("target %u: the keeper does not know of a fall: %s", target->held.id,
              strerror(-error));
}

static const char *target_name(const struct target *target) {
  return target->held.kind == HOLD_TIMER ? ring_clock_sampler(target->held.clock) : "perf";
}

static struct target *find_behind(const struct worker *worker, const struct target *target) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *behind = worker->targets.rows[row];
    if (behind != NULL && behind->held.behind == target->held.id) return behind;
  }
  return NULL;
}

/* Starts TARGET's ring.  Its processes' time so far belongs to PERF's account; CONTROL and the rate
   are inherited from PERF. */
static void wake(struct worker *worker, struct target *target, const struct target *perf) {
  uint64_t explained_ns = perf ? residual_own_ns(&perf->residual) : 0;
  uint32_t control = perf ? perf->held.control : RING_RUN;
  target->held.behind = 0;
  target->exit.billed_ns += explained_ns;
  /* The run adds up the times of all its targets, and PERF's only once. */
  if (perf != NULL && perf->run != 0 && perf->run == target->run)
    target->exit.perf_ns += explained_ns;
  if (perf != NULL && perf->held.wish_period_ns != 0) {
    target->held.asked_mhz = perf->held.asked_mhz;
    rate_wish(target, perf->held.wish_period_ns);
  }
  switch_target(target, (enum ring_control)control);
  tell_keeper(worker, target);
}

/* Opens perf in place of FROM, which stopped because of WHY, on its processes RUNNING. */
static struct target *open_anew(struct worker *worker, struct target *from, const char *why,
                                const struct perf_running *running) {
  struct hold_target held = from->held;
  held.falls++;
  held.why[0] = '\0';
  say_why(&held, target_name(from), why);
  struct ladder_wish wish = {&held, running, ladder_spent_ns(running), .is_fresh = false};
  struct target *target = NULL;
  from->look.step_ns = clock_monotonic_ns();
  from->look.step_fault = "its processes are gone";
  if (held.falls > FALLS_MAX)
    from->look.step_fault = "it was taken away too often";
  else if (running->count > 0)
    target = ladder_adopt(worker, &wish, &from->look.step_fault);
  if (target != NULL && held.wish_period_ns != 0) rate_wish(target, held.wish_period_ns);
  return target;
}

/* A perf target has stopped giving samples.  No event counts its processes' time until another
   sampler takes over: that time stays in TARGET's account, by their clocks. */
static void fall_from_perf(struct worker *worker, struct target *target, const char *why) {
  struct perf_running running;
  struct target *behind = find_behind(worker, target);
  drain_run_whole(&worker->drain);
  ladder_list(worker, target, &running);
  uint64_t spent_ns = ladder_spent_ns(&running);
  residual_hear(&target->residual, spent_ns);
  drain_residual(&worker->drain, target, true); /* its account ends here */
  struct target *next = open_anew(worker, target, why, &running);
  if (next != NULL) {
    if (behind != NULL) behind->held.behind = next->held.id;
    if (behind != NULL) tell_keeper(worker, behind);
    perf_running_start(&next->held, next->fds);
  } else if (behind != NULL && behind->held.control != RING_OFF) {
    say_why(&behind->held, "perf", target->look.step_fault);
    say_why(&behind->held, "perf", why);
  } else {
    return;
  }
  if (next == NULL) wake(worker, behind, target);
  log_info("target %d: perf: %s; goes on by %s", (int)target->held.pid, why,
           next ? "perf, opened anew" : "timer");
  sweep_end_target(worker, target);
}

/* CPU time of TARGET's processes not yet attributed: its timers missed it. */
static uint64_t unseen_ns(const struct target *target, const struct perf_running *running) {
  uint64_t spent_ns = ladder_spent_ns(running);
  uint64_t shown_ns = target->held.begin_cpu_ns + target->weight_ns + target->exit.billed_ns;
  return spent_ns > shown_ns && target->exit.begun_ns != 0 ? spent_ns - shown_ns : 0;
}

/* Too much of a timer target is unsampled. */
static void fall_from_timer(struct worker *worker, struct target *target) {
  char why[CENSUS_WHY_BYTES];
  struct perf_running running;
  ladder_list(worker, target, &running);
  target_explain_unsampled(target, why);
  drain_run_whole(&worker->drain);
  uint64_t unseen = target->run == 0 ? unseen_ns(target, &running) : 0;
  struct target *next = open_anew(worker, target, why, &running);
  if (next == NULL) return;
  target->look.step_fault = NULL;
  switch_target(target, RING_PAUSE);
  perf_running_start(&next->held, next->fds);
  drain_rest(&worker->drain, target, unseen);
  target->exit.billed_ns += unseen;
  target->exit.begun_ns = 0; /* its figures at its end belong to perf's account from here on */
  target->held.behind = next->held.id;
  tell_keeper(worker, target);
  log_info("target %d: timer: %s; goes on by perf", (int)target->held.pid, why);
}

static bool may_step(const struct worker *worker, const struct target *target, uint64_t now) {
  if (worker->is_killed || worker->stop_by_ns != 0) return false;
  return target->look.step_ns == 0 || now - target->look.step_ns >= RETRY_NS;
}

static void step_perf(struct worker *worker, struct target *target, uint64_t now) {
  const char *why = ladder_look(target, now);
  if (why == NULL || !may_step(worker, target, now)) return;
  fall_from_perf(worker, target, why);
}

/* Another file is no proof by itself; an exec also removes the signal's handler.  An unreadable
   file proves nothing.  Paths are not compared: a program in a chroot has another path. */
static bool runs_another(const struct target *target) {
  const struct hold_target *held = &target->held;
  uint64_t device, inode, bit = UINT64_C(1) << ((int)timer_ring_signal(held) - 1);
  struct proc_status status;
  if (target->look.exe_inode == 0 || !proc_exe_file(held->pid, &device, &inode)) return false;
  if (device == target->look.exe_device && inode == target->look.exe_inode) return false;
  if (proc_status_read(held->pid, held->pid, &status) != 0) return false;
  return (status.caught & bit) == 0 && proc_lives(held->pid, held->start_ticks);
}

/* True at the second consecutive step at which TARGET's process runs a program without the agent: a
   program with it would have registered again. */
static bool is_replaced(struct target *target) {
  bool was_replaced = target->look.is_replaced;
  target->look.is_replaced = runs_another(target);
  return was_replaced && target->look.is_replaced;
}

static void step_timer(struct worker *worker, struct target *target, uint64_t now) {
  const struct hold_target *held = &target->held;
  if (held->behind != 0) {
    /* Its perf target was lost with a worker. */
    bool is_lost =
        held->control != RING_OFF && targets_find(&worker->targets, held->behind) == NULL;
    if (is_lost && may_step(worker, target, now) && proc_owner(held->pid) >= 0) {
      say_why(&target->held, "perf", "its events are lost");
      wake(worker, target, NULL);
    }
    return;
  }
  if (held->control != RING_RUN) return;
  struct census_figures census;
  census_figures(target, &census);
  bool is_cramped = ring_reader_cramped(&target->ring) > 0;
  bool has_failed = census.has_failed || census.blind_since_ns != 0;
  bool is_due = is_replaced(target) || is_cramped || has_failed;
  if (!is_due)
    target->look.step_fault = NULL; /* it has recovered */
  else if (held->collect > RING_PC_LR)
    target->look.step_fault = only_the_agent;
  else if (may_step(worker, target, now))
    fall_from_timer(worker, target);
}

static void describe_note(const struct worker_note *note, struct hold_target *ret) {
  memset(ret, 0, sizeof *ret);
  ret->uid = note->uid;
  ret->asked_mhz = note->asked_mhz;
  ret->is_auto_rate = note->is_auto_rate;
  ret->period_ns = 1000 * NS_PER_SECOND / note->asked_mhz;
  ret->collect = note->collect;
  ret->unwind = note->unwind;
  ret->content = perf_admission_content(note->uid, note->collect == RING_PC_LR, note->unwind);
  memcpy(ret->service, note->service, sizeof ret->service);
  memcpy(ret->labels, note->labels, sizeof ret->labels);
  memcpy(ret->exe, note->exe, sizeof ret->exe);
  memcpy(ret->why, note->why, sizeof ret->why);
}

/* Puts the obstacle to the agent into HELD's why, unless `run` or the registrar has. */
static void say_obstacle(struct hold_target *held, const struct worker_note *note) {
  if (note->is_refused) return;
  const char *obstacle = preload_obstacle_of_process(note->pid);
  if (obstacle == NULL) obstacle = preload_explain_silence(note->pid);
  if (strstr(held->why, obstacle) == NULL) say_why(held, note->sampler, obstacle);
}

/* No agent has started in the program of a run by timer. */
static void fall_from_note(struct worker *worker, struct worker_note *note) {
  struct hold_target held;
  struct perf_running running = {.count = 1};
  const char *fault = only_the_agent;
  running.processes[0].pid = note->pid;
  running.processes[0].start_ticks = note->start_ticks;
  describe_note(note, &held);
  say_obstacle(&held, note);
  struct ladder_wish wish = {&held, &running, UINT64_MAX, .is_fresh = false};
  struct target *target = NULL;
  if (note->collect <= RING_PC_LR) target = ladder_adopt(worker, &wish, &fault);
  if (target != NULL)
    perf_running_start(&target->held, target->fds);
  else if (fault != only_the_agent || strstr(held.why, only_the_agent_end) == NULL)
    say_why(&held, "not sampled: perf", fault);
  memcpy(note->why, held.why, sizeof note->why);
}

static void step_note(struct worker *worker, struct worker_note *note, uint64_t now) {
  struct proc_stat stat;
  if (note->serial == 0 || note->is_told || note->is_looked_at) return;
  if (ring_clock_parse(note->sampler) < 0 || now - note->begun_ns < AGENT_NS) return;
  note->is_looked_at = true;
  if (targets_find_pid(&worker->targets, note->pid) != NULL) return;
  bool is_there = proc_stat_read(note->pid, &stat) == 0 && stat.start_ticks == note->start_ticks;
  if (is_there && !proc_stat_is_over(&stat) && ladder_cover(worker, note->pid) == NULL)
    fall_from_note(worker, note);
}

static const char *explain_stray(pid_t pid) {
  const char *obstacle = preload_obstacle_of_process(pid);
  if (!proc_shares_namespace(pid, "pid")) return ladder_foreign_pids;
  if (obstacle != NULL) return obstacle;
  if (!proc_shares_namespace(pid, "mnt"))
    return "the process is in another mount namespace, where the daemon's socket is not";
  return preload_explain_silence(pid);
}

/* Whether no sampler reaches PID, a process of NOTE's tree. */
static bool is_stray(const struct worker *worker, const struct worker_note *note, pid_t pid) {
  int clock = ring_clock_parse(note->sampler);
  struct proc_status status;
  if (clock < 0 || proc_cpu_ns(pid) < STRAY_CPU_NS) return false;
  uint64_t signal = UINT64_C(1) << (ring_clock_signal((uint32_t)clock) - 1);
  if (proc_status_read(pid, pid, &status) != 0 || (status.caught & signal) != 0) return false;
  if (targets_find_pid(&worker->targets, pid) != NULL || ladder_cover(worker, pid) != NULL)
    return false;
  return run_note_find((struct worker *)(uintptr_t)worker, pid) == note;
}

/* Samples PID by perf, or records the reason in NOTE.  Returns whether it is sampled. */
static bool take_stray(struct worker *worker, struct worker_note *note, pid_t pid) {
  char why[INTAKE_WHY_BYTES];
  struct hold_target held;
  struct proc_stat stat;
  struct perf_running running = {.count = 1};
  const char *fault = only_the_agent;
  struct target *target = NULL;
  if (proc_stat_read(pid, &stat) < 0) return false;
  running.processes[0].pid = pid;
  running.processes[0].start_ticks = stat.start_ticks;
  describe_note(note, &held);
  proc_exe_path(pid, held.exe, sizeof held.exe);
  held.why[0] = '\0';
  say_why(&held, note->sampler, explain_stray(pid));
  struct ladder_wish wish = {&held, &running, 0, .is_fresh = false};
  if (note->strays == STRAYS_MAX)
    fault = "16 programs of this run are sampled by it already";
  else if (note->collect <= RING_PC_LR)
    target = ladder_adopt(worker, &wish, &fault);
  if (target != NULL) {
    perf_running_start(&target->held, target->fds);
    note->strays++;
    return true;
  }
  snprintf(why, sizeof why, "%.140s; perf: %.100s", held.why, fault);
  if (!note->is_partial && !note->is_refused) run_note_refuse(worker, pid, why);
  return false;
}

/* Returns the CPU time of the unsampled processes of NOTE's tree. */
static uint64_t look_for_strays(struct worker *worker, struct worker_note *note) {
  pid_t tree[TREE_MAX];
  uint64_t unsampled_ns = 0;
  unsigned count = proc_children(note->pid, tree, TREE_MAX);
  for (unsigned i = 0; i < count; i++) {
    count += proc_children(tree[i], tree + count, TREE_MAX - count);
    if (is_stray(worker, note, tree[i]) && !take_stray(worker, note, tree[i]))
      unsampled_ns += proc_cpu_ns(tree[i]);
  }
  return unsampled_ns;
}

static void step_strays(struct worker *worker, struct worker_note *note, uint64_t now) {
  if (note->serial == 0 || note->is_told || !note->is_looked_at || now < note->stray_look_ns)
    return;
  const struct target *own = targets_find_pid(&worker->targets, note->pid);
  bool is_paused = own != NULL && own->held.control != RING_RUN && own->held.behind == 0;
  if (is_paused || ladder_cover(worker, note->pid) != NULL || !run_note_does_run(note)) return;
  uint64_t unsampled_ns = look_for_strays(worker, note);
  if (unsampled_ns > note->stray_ns) note->stray_ns = unsampled_ns;
  bool is_calm = unsampled_ns == 0 && note->stray_pause_ns < STRAY_PAUSE_NS_MAX;
  if (note->stray_pause_ns == 0 || unsampled_ns > 0)
    note->stray_pause_ns = STEP_NS / 2;
  else if (is_calm)
    note->stray_pause_ns *= 2;
  note->stray_look_ns = now + note->stray_pause_ns;
}

/* A short program behind a launcher ends before the second full step. */
static void step_young(struct worker *worker, uint64_t now) {
  if (now - worker->stepped_young_ns < STEP_YOUNG_NS || !run_note_is_any_young(worker, now)) return;
  worker->stepped_young_ns = now;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    bool is_timer = target != NULL && target->held.kind == HOLD_TIMER;
    if (is_timer && target->ended_ns == 0) step_timer(worker, target, now);
  }
}

void ladder_step(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  if (now - worker->stepped_ns < STEP_NS / 2) {
    step_young(worker, now);
    return;
  }
  worker->stepped_ns = now;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->ended_ns != 0) continue;
    if (target->held.kind == HOLD_PERF)
      step_perf(worker, target, now); /* may end it */
    else if (target->held.kind == HOLD_TIMER)
      step_timer(worker, target, now);
  }
  for (unsigned i = 0; i < WORKER_NOTES_MAX && !worker->is_killed; i++)
    step_note(worker, &worker->notes[i], now);
  for (unsigned i = 0; i < WORKER_NOTES_MAX && !worker->is_killed && worker->stop_by_ns == 0; i++)
    step_strays(worker, &worker->notes[i], now);
}
