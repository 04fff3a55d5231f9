/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each thread its own events when too many samples have an old period. Threads and children
   inherit events with the period of that moment, and an inherited event can only be stopped. So
   they keep the old rate after a change, and one constant period. When enough of these samples have
   arrived, each thread gets its own events, one for each CPU, in the same rings and again
   inherited. The previous events are stopped at the same moment:

     open all, stopped ─▶ no new threads? ─▶ stop the old ones ─▶ start the new ones

   A thread that starts while events are opened may or may not have inherited one, which cannot be
   determined: then all is undone and retried later. A thread that starts after the second check has
   inherited both.

   The events of the whole program stay with the supervisor, stopped. It restarts them as soon as
   this worker dies, because the worker's events die with it. The time between stop and start is
   [unsampled]. The exact total comes from the event that reports exits, which is never changed.

   Threads that cannot get events keep their old ones. If they have a large share of the samples,
   the answer is marked (MARK_STALE_RATE): with a constant period a thread may synchronize with it.

   An inherited event begins a whole period with its task, so a task shorter than one period is
   never sampled (500 children of 4 ms at 99 Hz: no sample). A CPU's event samples such a task like
   any other. So events on whole CPUs take over if the kernel allows them (root, CAP_PERFMON,
   perf_event_paranoid 0) and the exits of tasks show that much is missed. They see every program.
   Samples outside the target's tree are dropped at the drain (drain/perf_drain.c), before any
   look-up, and reduce this target's rate. A target of a user other than the daemon's gets none: its
   programs may start others that the user may not inspect. If they are not allowed, tasks of a few
   periods have samples, but always at the ends of whole periods. The beginning of each is
   under-represented, and the rest over-represented. The answer is marked (MARK_SHORT_LIVES). Events
   on whole CPUs also report forks and exits, so they start before the others stop. If the board is
   busy otherwise, or the program's tasks become longer, the events of the tree take over again.
   Each time the delay before whole CPUs are sampled again grows.

   The cost is up to three system calls for each event. Hence the limits and the growing delay: a
   program that keeps making threads is not followed for ever. */
#include "perf_threads.h"
#include "perf_admission.h"
#include "stride.h"

#include "common/clock.h"
#include "intake/perf_attr.h"
#include "perf/perf_ring.h"
#include "ring/ring_format.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct listing {
  const struct target *target;
  int error;
  uint32_t count;
  pid_t tids[PERF_THREADS_MAX];
};

bool perf_threads_is_due(const struct target *target, uint64_t now_ns) {
  const struct rate *rate = &target->rate;
  if (target->held.kind != HOLD_PERF || target->held.control != RING_RUN) return false;
  if (target->perf == NULL || target->bad_events > 0 || target->ended_ns != 0) return false;
  if (target->threads.is_wide) return false;
  bool is_wanted =
      rate->astray >= PERF_THREADS_ASTRAY_MIN || rate->inherited >= PERF_THREADS_INHERITED_MIN;
  return is_wanted && now_ns >= rate->apart_at_ns;
}

static void put_off(struct rate *rate) {
  const uint64_t most_ns = PERF_THREADS_WAIT_SECONDS_MAX * NS_PER_SECOND;
  rate->apart_wait_ns = rate->apart_wait_ns ? rate->apart_wait_ns * 2 : NS_PER_SECOND;
  if (rate->apart_wait_ns > most_ns) rate->apart_wait_ns = most_ns;
  rate->apart_at_ns = clock_monotonic_ns() + rate->apart_wait_ns;
  rate->inherited = rate->astray = 0;
}

/* For another user's tree each process is checked: it may have gained rights by an exec. */
static bool is_allowed(const struct target *target, pid_t pid) {
  return target->held.uid == geteuid() || perf_admission_is_his(pid, target->held.uid);
}

static void list_process(void *context, struct process *process) {
  struct listing *list = context;
  char path[32];
  if (process->has_ended || list->error != 0) return;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return; /* it has ended */
  if (!is_allowed(list->target, process->pid)) list->error = -EPERM;
  for (struct dirent *task; list->error == 0 && (task = readdir(tasks)) != NULL;) {
    pid_t tid = (pid_t)strtol(task->d_name, NULL, 10);
    if (tid > 0 && list->count == PERF_THREADS_MAX)
      list->error = -EOVERFLOW;
    else if (tid > 0)
      list->tids[list->count++] = tid;
  }
  closedir(tasks);
}

static int list_threads(struct processes *processes, const struct target *target,
                        struct listing *ret) {
  ret->target = target;
  ret->error = 0;
  ret->count = 0;
  processes_each(processes, target->held.id, list_process, ret);
  return ret->error;
}

static bool has(const struct listing *list, pid_t tid) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->tids[i] == tid) return true;
  return false;
}

static bool has_all(const struct listing *list, const struct listing *later) {
  for (uint32_t i = 0; i < later->count; i++)
    if (!has(list, later->tids[i])) return false;
  return true;
}

static uint32_t events_of_all(const struct targets *targets) {
  uint32_t sum = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (targets->rows[row] != NULL) sum += targets->rows[row]->threads.count;
  return sum;
}

static bool has_room(const struct targets *targets, uint64_t more) {
  struct rlimit limit = {.rlim_cur = 0};
  getrlimit(RLIMIT_NOFILE, &limit);
  uint64_t sum = events_of_all(targets) + more;
  return more <= PERF_THREADS_EVENTS_MAX && sum <= PERF_THREADS_EVENTS_OF_ALL &&
         sum <= limit.rlim_cur / 4;
}

static int open_event(const struct target *target, const struct perf_ring *ring, pid_t tid) {
  struct perf_event_attr attr;
  perf_attr_fill(&attr, rate_period_ns(target));
  attr.enable_on_exec = 0;
  perf_attr_ask(&attr, (enum perf_content)target->held.content);
  perf_attr_vary(&attr);
  int fd = perf_attr_open(&attr, tid, ring->cpu);
  int error = fd < 0 ? fd : perf_ring_redirect(ring, fd);
  if (error >= 0) return fd;
  if (fd >= 0) close(fd);
  return error;
}

static int open_thread(const struct target *target, pid_t tid, struct target_threads *threads) {
  uint32_t start = threads->count;
  for (unsigned i = 0; i < target->perf->count; i++) {
    int fd = open_event(target, &target->perf->cpus[i], tid);
    if (fd >= 0 && perf_event_id(fd, &threads->ids[threads->count])) {
      threads->fds[threads->count++] = fd;
      continue;
    }
    if (fd >= 0) close(fd);
    while (threads->count > start) close(threads->fds[--threads->count]);
    return fd == -ESRCH ? 0 : fd < 0 ? fd : -EBADF; /* an ended thread needs none */
  }
  return 0;
}

static int open_all(const struct target *target, const struct listing *list,
                    struct target_threads *ret) {
  size_t most = (size_t)list->count * target->perf->count;
  int error = 0;
  ret->fds = calloc(most + 1, sizeof *ret->fds);
  ret->ids = calloc(most + 1, sizeof *ret->ids);
  if (ret->fds == NULL || ret->ids == NULL) error = -ENOMEM;
  for (uint32_t i = 0; i < list->count && !error; i++)
    error = open_thread(target, list->tids[i], ret);
  return error != 0 ? error : ret->count > 0 ? 0 : -ESRCH;
}

static void tell_all(const struct target *target, unsigned long what) {
  for (uint32_t i = 0; i < target_events(target); i++) ioctl(target_event(target, i), what, 0);
}

/* Returns the counts of THREADS, which are stopped. */
static uint64_t count_of(const struct target_threads *threads) {
  uint64_t sum = 0, one;
  for (uint32_t i = 0; i < threads->count; i++)
    if (perf_event_read_ns(threads->fds[i], &one) == 0) sum += one;
  return sum;
}

static int change_over(struct targets *targets, struct target *target,
                       struct target_threads *threads) {
  tell_all(target, PERF_EVENT_IOC_DISABLE);
  uint64_t closed_ns = target->threads.closed_ns + count_of(&target->threads);
  int error = targets_swap_threads(targets, target, threads);
  if (error == 0) {
    target->threads.closed_ns = closed_ns;
    stride_begin(target);
  }
  tell_all(target, PERF_EVENT_IOC_ENABLE);
  target->residual.kernel.is_blind = true;
  return error;
}

static int open_listed(struct targets *targets, struct processes *processes, struct target *target,
                       struct listing lists[2]) {
  struct target_threads threads = {.count = 0};
  int error = list_threads(processes, target, &lists[0]);
  uint64_t wanted = (uint64_t)lists[0].count * target->perf->count;
  if (!error && !has_room(targets, wanted)) error = -EOVERFLOW;
  if (!error) error = open_all(target, &lists[0], &threads);
  if (!error) error = list_threads(processes, target, &lists[1]);
  if (!error && !has_all(&lists[0], &lists[1])) error = -EAGAIN;
  if (!error) error = change_over(targets, target, &threads);
  target_threads_close(&threads);
  return error;
}

void perf_threads_note_end(struct target *target, uint64_t cpu_ns) {
  uint64_t half_ns = rate_period_ns(target) / 2;
  target->rate.unseen_tasks++;
  target->rate.unseen_ns += cpu_ns < 2 * half_ns ? cpu_ns : half_ns;
  if (cpu_ns >= 2 * half_ns && !target->threads.is_wide) target->rate.first_ns += 2 * half_ns;
}

bool perf_threads_are_short(const struct target *target) {
  return target->rate.first_ns > target->weight_ns / PERF_THREADS_FIRST_PART;
}

static struct rate_look look_at(const struct target *target, uint64_t now_ns) {
  return (struct rate_look){.at_ns = now_ns,
                            .foreign = target->rate.foreign,
                            .records = target->records,
                            .weight_ns = target->weight_ns,
                            .unseen_ns = target->rate.unseen_ns,
                            .unseen_tasks = target->rate.unseen_tasks};
}

static struct rate_look since_look(const struct target *target) {
  const struct rate_look *then = &target->rate.look;
  struct rate_look now = look_at(target, 0);
  now.foreign -= then->foreign;
  now.records -= then->records;
  now.weight_ns -= then->weight_ns;
  now.unseen_ns -= then->unseen_ns;
  now.unseen_tasks -= then->unseen_tasks;
  return now;
}

static void put_off_wide(struct target *target) {
  const uint64_t most_ns = PERF_THREADS_WAIT_SECONDS_MAX * NS_PER_SECOND;
  struct rate *rate = &target->rate;
  uint64_t now_ns = clock_monotonic_ns();
  rate->wide_wait_ns =
      rate->wide_wait_ns ? rate->wide_wait_ns * 2 : PERF_THREADS_WIDE_SECONDS * NS_PER_SECOND;
  if (rate->wide_wait_ns > most_ns) rate->wide_wait_ns = most_ns;
  rate->wide_at_ns = now_ns + rate->wide_wait_ns;
  rate->look = look_at(target, now_ns);
}

bool perf_threads_is_wide_due(const struct targets *targets, const struct target *target,
                              uint64_t now_ns) {
  const struct rate *rate = &target->rate;
  if (target->held.kind != HOLD_PERF || target->held.control != RING_RUN) return false;
  if (target->threads.is_wide || rate->wide_fault != NULL || target->ended_ns != 0) return false;
  if (target->perf == NULL || target->bad_events > 0 || target->held.is_killed) return false;
  if (target->exits.ring.map == NULL) return false;
  if (target->held.uid != geteuid() || target->held.has_paused) return false;
  const struct rate_look since = since_look(target);
  return since.unseen_tasks >= PERF_THREADS_UNSEEN_TASKS &&
         since.unseen_ns > (since.weight_ns + since.unseen_ns) / PERF_THREADS_UNSEEN_PART &&
         now_ns >= rate->wide_at_ns && targets_count_wide(targets) < PERF_THREADS_WIDE_MAX;
}

bool perf_threads_is_narrow_due(struct target *target, uint64_t now_ns) {
  struct rate *rate = &target->rate;
  if (!target->threads.is_wide || target->held.control != RING_RUN) return false;
  if (target->held.is_killed || target->ended_ns != 0) return false;
  if (now_ns - rate->look.at_ns < PERF_THREADS_WIDE_SECONDS * NS_PER_SECOND) return false;
  const struct rate_look since = since_look(target);
  rate->look = look_at(target, now_ns);
  bool is_dear = since.foreign >= PERF_THREADS_FOREIGN_MIN &&
                 since.foreign / PERF_THREADS_FOREIGN_TIMES >= since.records;
  return is_dear || since.unseen_ns < since.weight_ns / PERF_THREADS_SEEN_PART;
}

static int open_wide_event(const struct target *target, const struct perf_ring *ring) {
  struct perf_event_attr attr;
  perf_attr_fill(&attr, rate_period_ns(target));
  perf_attr_ask(&attr, (enum perf_content)target->held.content);
  perf_attr_widen(&attr);
  perf_attr_vary(&attr);
  int fd = perf_attr_open(&attr, -1, ring->cpu);
  int error = fd < 0 ? fd : perf_ring_redirect(ring, fd);
  if (error >= 0) return fd;
  if (fd >= 0) close(fd);
  return error;
}

static int open_wide(const struct target *target, struct target_threads *ret) {
  int error = 0;
  ret->is_wide = true;
  ret->fds = calloc(target->perf->count, sizeof *ret->fds);
  ret->ids = calloc(target->perf->count, sizeof *ret->ids);
  if (ret->fds == NULL || ret->ids == NULL) return -ENOMEM;
  for (unsigned i = 0; i < target->perf->count && error == 0; i++) {
    int fd = open_wide_event(target, &target->perf->cpus[i]);
    if (fd < 0) return fd;
    ret->fds[ret->count] = fd;
    if (!perf_event_id(fd, &ret->ids[ret->count++])) error = -EBADF;
  }
  return error;
}

int perf_threads_open_wide(struct targets *targets, struct target *target) {
  struct target_threads threads = {.count = 0};
  uint64_t closed_ns = target->threads.closed_ns;
  int error = has_room(targets, target->perf->count) ? open_wide(target, &threads) : -EOVERFLOW;
  targets->has_been_wide |= error == 0;
  for (uint32_t i = 0; !error && i < threads.count; i++)
    ioctl(threads.fds[i], PERF_EVENT_IOC_ENABLE, 0);
  if (!error) error = targets_swap_threads(targets, target, &threads);
  if (error == 0) {
    const int *fds = threads.count > 0 ? threads.fds : target->fds;
    uint32_t count = threads.count > 0 ? threads.count : target->held.fd_count;
    for (uint32_t i = 0; i < count; i++) ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);
    target->threads.closed_ns = closed_ns + count_of(&threads);
    stride_begin(target);
    target->residual.kernel.is_blind = true;
    target->rate.look = look_at(target, clock_monotonic_ns());
  } else if (error == -EOVERFLOW || error == -ENOMEM) {
    put_off_wide(target);
  } else {
    target->rate.wide_fault = "the kernel refuses events on whole CPUs";
  }
  target_threads_close(&threads);
  return error;
}

/* They were stopped, and the period may have changed meanwhile. */
static void start_whole(const struct target *target) {
  uint64_t period_ns = rate_period_ns(target);
  for (uint32_t i = 0; i < target->held.fd_count; i++) {
    ioctl(target->fds[i], PERF_EVENT_IOC_PERIOD, &period_ns);
    ioctl(target->fds[i], PERF_EVENT_IOC_ENABLE, 0);
  }
}

int perf_threads_narrow(struct targets *targets, struct target *target, bool is_run) {
  struct target_threads threads = {.count = 0};
  if (!target->threads.is_wide) return 0;
  threads.closed_ns = target->threads.closed_ns;
  int error = targets_swap_threads(targets, target, &threads);
  if (error) return error;
  if (is_run) start_whole(target);
  target_threads_close(&threads);
  stride_begin(target);
  put_off_wide(target);
  target->residual.kernel.is_blind = true;
  return 0;
}

/* NULL on success, or if the next attempt may succeed. */
static const char *explain(int error) {
  switch (error) {
  case 0:
  case -EAGAIN:
  case -ESRCH:
    return NULL;
  case -EOVERFLOW:
    return "too many threads";
  case -EPERM:
  case -EACCES:
    return "the kernel refuses events on them, or a process has more rights";
  default:
    return "the kernel gives no perf events for them";
  }
}

int perf_threads_open(struct targets *targets, struct processes *processes, struct target *target) {
  struct listing *lists = calloc(2, sizeof *lists);
  int error = lists ? open_listed(targets, processes, target, lists) : -ENOMEM;
  free(lists);
  put_off(&target->rate);
  target->rate.apart_fault = explain(error);
  return error;
}
