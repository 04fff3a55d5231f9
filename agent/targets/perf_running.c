/* SPDX-License-Identifier: Apache-2.0 */
/* An event that is opened on a process is opened on one thread of it. Later children of that thread
   inherit it, but the other existing threads do not. So each thread gets its own events, one for
   each CPU: only an event bound to a CPU can both be inherited and write into that CPU's ring.

   The program runs while the events are opened. A new thread may come from a thread with an event
   (and has inherited it) or from one without, and this cannot be determined. Opening another event
   would count it twice, and leaving it out would lose it. So the threads are listed again
   afterwards; if the list has changed, all events are closed and opened again. No event counts
   before all are open.

   Programs that register wait for the answer, and nearly all have one thread. A program with more
   threads than one packet to the supervisor can carry events for is sampled by timer.

   For another user's program the check of perf_admission.c is made before and after. */
#include "perf_running.h"
#include "perf_admission.h"

#include "intake/perf_attr.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TRIES = 8 };

struct threads {
  unsigned count, room;
  pid_t tids[INTAKE_FDS_MAX];
};

/* Returns false if there are too many threads, or the process is gone. */
static bool list_process(pid_t pid, struct threads *threads) {
  char path[32];
  unsigned before = threads->count;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return false;
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (threads->count == threads->room) break;
    threads->tids[threads->count++] = (pid_t)strtol(entry->d_name, NULL, 10);
  }
  closedir(tasks);
  return threads->count > before && threads->count < threads->room;
}

static bool list_all(const struct perf_running *running, unsigned room, struct threads *ret) {
  ret->count = 0;
  ret->room = room;
  for (unsigned i = 0; i < running->count; i++)
    if (!list_process(running->processes[i].pid, ret)) return false;
  return true;
}

static bool is_same(const struct threads *a, const struct threads *b) {
  return a->count == b->count && memcmp(a->tids, b->tids, a->count * sizeof *a->tids) == 0;
}

static int open_thread(const struct perf_rings *rings, pid_t tid, struct hold_target *held,
                       int *fds) {
  struct perf_event_attr attr;
  perf_attr_fill(&attr, held->period_ns);
  perf_attr_wait_for_enable(&attr);
  perf_attr_ask(&attr, (enum perf_content)held->content);
  for (unsigned i = 0; i < rings->count; i++) {
    struct perf_event_attr varied = attr;
    perf_attr_vary(&varied);
    int fd = perf_attr_open(&varied, tid, rings->cpus[i].cpu);
    if (fd < 0) return fd;
    fds[held->fd_count++] = fd;
    int error = perf_ring_redirect(&rings->cpus[i], fd);
    if (error) return error;
  }
  return 0;
}

/* Events that report exits have a ring that only one thread's events can share. */
static void open_exits(pid_t tid, struct hold_target *held, int *fds) {
  bool has_room = held->fd_count + 2 <= INTAKE_FDS_MAX;
  if (has_room && perf_attr_open_exits(tid, true, fds + held->fd_count) == 0)
    held->exit_fd_count = 2;
}

/* Returns 0, -EAGAIN if a thread has started or ended, or -errno. */
static int open_listed(const struct perf_rings *rings, const struct threads *threads,
                       struct hold_target *held, int *fds) {
  for (unsigned i = 0; i < threads->count; i++) {
    int error = open_thread(rings, threads->tids[i], held, fds);
    if (error) return error == -ESRCH ? -EAGAIN : error;
  }
  if (threads->count == 1) open_exits(threads->tids[0], held, fds);
  return 0;
}

static const char *explain(int error) {
  switch (error) {
  case -EAGAIN:
    return "threads come and go too fast";
  case -EMFILE:
  case -ENFILE:
    return "the daemon has no descriptor left";
  case -EACCES:
  case -EPERM:
    return "the kernel refuses events on it (kernel.perf_event_paranoid, or it has more rights)";
  default:
    return "the kernel gives no perf event on it";
  }
}

static const char *check_all(const struct perf_running *running, uint32_t uid) {
  const char *fault = NULL;
  if (uid == geteuid()) return NULL; /* the kernel checks */
  for (unsigned i = 0; i < running->count && fault == NULL; i++)
    fault = perf_admission_check(running->processes[i].pid, uid, running->processes[i].start_ticks);
  return fault;
}

const char *perf_running_open(const struct perf_rings *rings, const struct perf_running *running,
                              struct hold_target *held, int ret_fds[INTAKE_FDS_MAX]) {
  struct threads before, after;
  hold_clear_fds(held);
  if (rings->count == 0) return rings->why[0] ? rings->why : "there is no perf ring";
  unsigned room = INTAKE_FDS_MAX / rings->count;
  const char *fault = check_all(running, held->uid);
  int error = -EAGAIN;
  for (unsigned tries = 0; fault == NULL && error == -EAGAIN && tries < TRIES; tries++) {
    if (!list_all(running, room, &before)) return "it is gone, or has too many threads";
    error = open_listed(rings, &before, held, ret_fds);
    if (error == 0 && !(list_all(running, room, &after) && is_same(&before, &after)))
      error = -EAGAIN;
    if (error) hold_close_fds(held, ret_fds);
  }
  if (fault == NULL && error) fault = explain(error);
  if (fault == NULL && (fault = check_all(running, held->uid)) != NULL)
    hold_close_fds(held, ret_fds);
  return fault;
}

void perf_running_start(const struct hold_target *held, const int *fds) {
  if (held->exit_fd_count == 2) ioctl(fds[held->fd_count + 1], PERF_EVENT_IOC_ENABLE, 0);
  for (unsigned i = 0; i < held->fd_count; i++) ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
}
