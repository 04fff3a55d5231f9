/* SPDX-License-Identifier: Apache-2.0 */
/* There is one event per CPU, in CPU order.  Children inherit the events, which begin to count at
   exec.  A further event, on all CPUs, reports the CPU time of each task when it ends.  The
   descriptors are closed here as soon as the daemon has them.  There is no variable, preload or
   signal, so the program cannot detect the sampling. */
#include "launch_perf.h"
#include "daemon_call.h"
#include "intake/cpu_list.h"
#include "intake/perf_attr.h"
#include "note.h"
#include "request_fill.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"

struct events {
  int fds[INTAKE_FDS_MAX];
  unsigned count;
  enum perf_content content;
};

enum {
  PARANOID_OF_USERS = 2, /* the highest value that allows perf to every user */
  PARANOID_UNKNOWN = -2, /* below all values of the kernel */
};

static int read_paranoid(void) {
  int value = PARANOID_UNKNOWN;
  FILE *file = fopen(PARANOID_PATH, "re");
  if (file == NULL) return value;
  if (fscanf(file, "%d", &value) != 1) value = PARANOID_UNKNOWN;
  fclose(file);
  return value;
}

static void explain_refusal(int error, char *why, size_t why_len) {
  int paranoid = read_paranoid();
  if (paranoid == PARANOID_UNKNOWN)
    snprintf(why, why_len, "perf: %s; perf_event_paranoid cannot be read", strerror(-error));
  else if (paranoid > PARANOID_OF_USERS)
    snprintf(why, why_len,
             "perf: %s; perf_event_paranoid is %d, and up to %d lets every user in "
             "(sysctl kernel.perf_event_paranoid=%d)",
             strerror(-error), paranoid, PARANOID_OF_USERS, PARANOID_OF_USERS);
  else
    snprintf(
        why, why_len,
        "perf: %s; perf_event_paranoid is %d and allows it, so a seccomp filter (a container's) "
        "or a security module refuses it",
        strerror(-error), paranoid);
}

static void explain(int error, char *why, size_t why_len) {
  if (error == -EACCES || error == -EPERM)
    explain_refusal(error, why, why_len);
  else if (error == -ENOSYS || error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP)
    snprintf(why, why_len, "perf: the kernel has no perf events (CONFIG_PERF_EVENTS)");
  else if (error == -EOVERFLOW)
    snprintf(why, why_len, "perf: more than %d CPUs", INTAKE_FDS_MAX);
  else
    snprintf(why, why_len, "perf: %s", strerror(-error));
}

static void close_events(struct events *events) {
  for (unsigned i = 0; i < events->count; i++) close(events->fds[i]);
  events->count = 0;
}

static int open_events(pid_t pid, const struct run_settings *settings, struct events *events) {
  struct perf_event_attr attr;
  struct cpu_list cpus;
  int error = cpu_list_online(&cpus);
  perf_attr_fill(&attr, 1000000000000ULL / settings->asked_mhz);
  bool is_pair = settings->collect.collect == RING_PC_LR;
  events->content = perf_attr_content(is_pair, settings->unwind);
  if (perf_attr_may_see_kernel())
    events->content = (enum perf_content)(events->content | PERF_CONTENT_KERNEL);
  perf_attr_ask(&attr, events->content);
  for (unsigned i = 0; i < cpus.count && error == 0; i++) {
    struct perf_event_attr varied = attr;
    perf_attr_vary(&varied);
    int fd = perf_attr_open(&varied, pid, cpus.cpus[i]);
    if (fd == -ENODEV && cpus.count > 1) continue; /* the CPU has gone offline meanwhile */
    if (fd < 0)
      error = fd;
    else if (events->count == INTAKE_FDS_MAX)
      error = -EOVERFLOW;
    else
      events->fds[events->count++] = fd;
  }
  if (error == 0 && events->count == 0) error = -ENODEV;
  return error;
}

static void open_exits(pid_t pid, struct events *events) {
  bool has_room = events->count + 2 <= INTAKE_FDS_MAX;
  if (has_room && perf_attr_open_exits(pid, false, events->fds + events->count) == 0)
    events->count += 2;
}

static int hand_over(struct sampling_choice *choice, const struct events *events) {
  struct intake_request request;
  struct intake_answer answer;
  request_fill(&request, INTAKE_PERF, choice);
  request.content = (uint32_t)events->content;
  struct intake_call call = {.request = &request,
                             .fds = events->fds,
                             .fd_count = events->count,
                             .timeout_ms = note_left_ms(choice)};
  int error = call.timeout_ms > 0 ? daemon_call(choice->socket, &call, &answer) : -ETIMEDOUT;
  if (error != 0) {
    snprintf(choice->why, sizeof choice->why, "perf: the daemon does not answer: %s",
             strerror(-error));
    return error;
  }
  if (answer.fd >= 0) close(answer.fd);
  choice->daemon = answer.daemon;
  if (answer.reply.kind == INTAKE_ACCEPTED) return 0;
  snprintf(choice->why, sizeof choice->why, "perf: refused by the daemon: %.200s",
           answer.reply.why);
  return -EACCES;
}

int launch_perf(struct sampling_choice *choice) {
  struct events events = {.count = 0};
  int error = open_events(choice->pid, choice->settings, &events);
  if (error == 0) {
    open_exits(choice->pid, &events);
    error = hand_over(choice, &events);
  } else {
    explain(error, choice->why, sizeof choice->why);
  }
  close_events(&events);
  return error;
}
