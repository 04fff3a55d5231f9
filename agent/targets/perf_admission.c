/* SPDX-License-Identifier: Apache-2.0 */
/* Access control for perf events of users other than the daemon's. All programs share a ring for
   each CPU, and the event determines the format of its samples. An event with registers or stack
   would put words of its program's choice at the offsets of another event's ID, pid and period. So
   no event of another user is admitted to the rings. The daemon opens its own, on the program that
   waits for its exec.

   The daemon has more rights than the user, so it first makes the kernel's check: may this user
   trace this process? All four uids must be the user's, all gids equal, and its files in /proc must
   be the user's too. They are not for a program that has or had more rights (setuid, file
   capabilities), until that program permits it. Perf must also be open to users at all. The check
   is repeated when the events are open, on the same process. In between it can only have changed by
   executing another program. The kernel removes events from a program that gains rights by its
   exec, even those that root has opened.

   The daemon's rights must not show a user kernel activity that the kernel would hide: events of
   other users sample the kernel only if perf_event_paranoid opens it to all users. */
#include "perf_admission.h"

#include "intake/perf_attr.h"
#include "proc/proc_stat.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"

enum {
  PARANOID_OF_USERS = 2,  /* above it some kernels admit no user */
  PARANOID_OF_KERNEL = 1, /* up to it users may sample the kernel */
  IDS = 4,
};

/* True if the kernel allows users access that requires LEVEL at most. */
static bool is_open_to_users(int level) {
  int value = PARANOID_OF_USERS;
  FILE *file = fopen(PARANOID_PATH, "re");
  if (file == NULL) return false; /* a kernel without perf */
  if (fscanf(file, "%d", &value) != 1) value = PARANOID_OF_USERS;
  fclose(file);
  return value <= level;
}

uint32_t perf_admission_content(uint32_t uid, bool is_pair, uint32_t choice) {
  uint32_t content = (uint32_t)perf_attr_content(is_pair, choice);
  bool is_his = uid == geteuid() || is_open_to_users(PARANOID_OF_KERNEL);
  return is_his && perf_attr_may_see_kernel() ? content | PERF_CONTENT_KERNEL : content;
}

/* Parses "NAME: real effective saved filesystem". Returns the ID if all four are equal, or -1. */
static long only_id(const char *line, const char *name) {
  unsigned ids[IDS];
  size_t len = strlen(name);
  if (strncmp(line, name, len) != 0) return -1;
  if (sscanf(line + len, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != IDS) return -1;
  return ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3] ? (long)ids[0] : -1;
}

/* A process's name is only in the first line, and contains no line end. */
static bool has_only_ids(pid_t pid, uint32_t uid) {
  char path[32], line[256];
  long user = -1, group = -1;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "Uid:", 4) == 0) user = only_id(line, "Uid:");
    if (strncmp(line, "Gid:", 4) == 0) group = only_id(line, "Gid:");
  }
  fclose(file);
  return user == (long)uid && group >= 0;
}

/* The directory always belongs to the effective user. The owner of its files shows whether the
   program may be inspected. */
static long owner_of_files(pid_t pid) {
  char path[32];
  struct stat found;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  return stat(path, &found) == 0 ? (long)found.st_uid : -1;
}

bool perf_admission_is_his(pid_t pid, uint32_t uid) {
  return has_only_ids(pid, uid) && owner_of_files(pid) == (long)uid;
}

const char *perf_admission_check(pid_t pid, uint32_t uid, uint64_t start_ticks) {
  struct proc_stat stat;
  if (!is_open_to_users(PARANOID_OF_USERS)) return "the kernel lets no user have perf events";
  bool is_his = perf_admission_is_his(pid, uid) && proc_stat_read(pid, &stat) == 0 &&
                stat.start_ticks == start_ticks;
  return is_his ? NULL : "the program has, or may have had, more rights than you";
}

static bool open_samples(const struct perf_rings *rings, struct hold_target *held, int *fds) {
  struct perf_event_attr attr;
  perf_attr_fill(&attr, held->period_ns);
  perf_attr_ask(&attr, (enum perf_content)held->content);
  for (unsigned i = 0; i < rings->count; i++) {
    struct perf_event_attr varied = attr;
    perf_attr_vary(&varied);
    int fd = perf_attr_open(&varied, held->pid, rings->cpus[i].cpu);
    if (fd < 0) return false;
    fds[held->fd_count++] = fd;
  }
  return true;
}

static void open_exits(struct hold_target *held, int *fds) {
  bool has_room = held->fd_count + 2 <= INTAKE_FDS_MAX;
  if (has_room && perf_attr_open_exits(held->pid, false, fds + held->fd_count) == 0)
    held->exit_fd_count = 2;
}

const char *perf_admission_open(const struct perf_rings *rings, struct hold_target *held,
                                int ret_fds[INTAKE_FDS_MAX]) {
  hold_clear_fds(held);
  const char *fault = perf_admission_check(held->pid, held->uid, held->start_ticks);
  if (fault != NULL) return fault;
  if (!open_samples(rings, held, ret_fds)) {
    hold_close_fds(held, ret_fds);
    return "the kernel gives no perf event on the program";
  }
  open_exits(held, ret_fds);
  if (perf_admission_check(held->pid, held->uid, held->start_ticks) == NULL) return NULL;
  hold_close_fds(held, ret_fds);
  return "the program has become another meanwhile";
}
