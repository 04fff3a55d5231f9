/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat is one line, "pid (comm) S ppid ...".  comm may contain blanks and parentheses, so
   fields are counted from the last ')'.  All other sources are one short file or link each.

   Between two reads a process may end, and its pid may be reused.  So no result is proof; callers
   compare start_ticks if it matters. */
#include "proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN_THREADS_MAX = 64, CHILDREN_TEXT_BYTES = 2048 };

#define FLAG_KERNEL_THREAD 0x00200000UL /* PF_KTHREAD */

/* Field numbers of proc(5), where comm is field 2. */
enum {
  FIELD_STATE = 3,
  FIELD_PARENT = 4,
  FIELD_FLAGS = 9,
  FIELD_USER = 14,
  FIELD_SYSTEM = 15,
  FIELD_CHILD_USER = 16,
  FIELD_CHILD_SYSTEM = 17,
  FIELD_THREADS = 20,
  FIELD_START = 22,
};

static void set_field(struct proc_stat *stat, int field, const char *text) {
  switch (field) {
  case FIELD_STATE:
    stat->state = text[0];
    break;
  case FIELD_PARENT:
    stat->parent = (pid_t)strtol(text, NULL, 10);
    break;
  case FIELD_FLAGS:
    stat->is_kernel = strtoul(text, NULL, 10) & FLAG_KERNEL_THREAD;
    break;
  case FIELD_USER:
    stat->own_user_ticks = strtoull(text, NULL, 10);
    stat->user_ticks += stat->own_user_ticks;
    break;
  case FIELD_SYSTEM:
    stat->own_system_ticks = strtoull(text, NULL, 10);
    stat->system_ticks += stat->own_system_ticks;
    break;
  case FIELD_CHILD_USER:
    stat->user_ticks += strtoull(text, NULL, 10);
    break;
  case FIELD_CHILD_SYSTEM:
    stat->system_ticks += strtoull(text, NULL, 10);
    break;
  case FIELD_THREADS:
    stat->threads = (uint32_t)strtoul(text, NULL, 10);
    break;
  case FIELD_START:
    stat->start_ticks = strtoull(text, NULL, 10);
    break;
  default:
    break;
  }
}

int proc_stat_parse(struct span text, struct proc_stat *ret) {
  char line[512];
  const uint8_t *end = text.len ? memrchr(text.data, ')', text.len) : NULL;
  if (end == NULL) return -EBADMSG;
  size_t len = text.len - (size_t)(end + 1 - text.data);
  if (len >= sizeof line) len = sizeof line - 1;
  memcpy(line, end + 1, len);
  line[len] = '\0';

  struct proc_stat stat = {.state = 0};
  int field = FIELD_STATE - 1;
  char *rest = line;
  for (char *word; field < FIELD_START && (word = strsep(&rest, " \n")) != NULL;)
    if (word[0] != '\0') set_field(&stat, ++field, word);
  if (field < FIELD_START) return -EBADMSG;
  *ret = stat;
  return 0;
}

static ssize_t read_file(const char *path, char *bytes, size_t len) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t got = read(fd, bytes, len);
  if (got < 0) got = -errno;
  close(fd);
  return got;
}

int proc_stat_read(pid_t pid, struct proc_stat *ret) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  ssize_t got = read_file(path, text, sizeof text);
  return got < 0 ? (int)got : proc_stat_parse(span_of(text, (size_t)got), ret);
}

bool proc_lives(pid_t pid, uint64_t start_ticks) {
  struct proc_stat stat;
  return proc_stat_read(pid, &stat) == 0 && !proc_stat_is_over(&stat) &&
         stat.start_ticks == start_ticks;
}

bool proc_has_thread(pid_t pid, pid_t tid) {
  return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

bool proc_thread_name(pid_t pid, pid_t tid, char ret[PROC_COMM_BYTES]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
  ssize_t got = read_file(path, ret, PROC_COMM_BYTES);
  if (got <= 0) return false;
  if (ret[got - 1] == '\n') got--;
  ret[got < PROC_COMM_BYTES ? got : PROC_COMM_BYTES - 1] = '\0';
  return true;
}

bool proc_exe_path(pid_t pid, char *ret, size_t len) {
  static const char deleted[] = " (deleted)";
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  ssize_t got = readlink(path, ret, len - 1);
  if (got <= 0 || ret[0] != '/') return false;
  size_t end = (size_t)got, tail = sizeof deleted - 1;
  if (end > tail && memcmp(ret + end - tail, deleted, tail) == 0) end -= tail;
  ret[end] = '\0';
  return true;
}

bool proc_exe_file(pid_t pid, uint64_t *ret_device, uint64_t *ret_inode) {
  char path[32];
  struct statx found;
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  /* Cached attributes: this does not wait for a file system that hangs. */
  bool is_read = statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &found) == 0;
  *ret_device = is_read ? makedev(found.stx_dev_major, found.stx_dev_minor) : 0;
  *ret_inode = is_read ? found.stx_ino : 0;
  return is_read;
}

long proc_owner(pid_t pid) {
  char path[32];
  struct stat found;
  snprintf(path, sizeof path, "/proc/%d", (int)pid);
  return stat(path, &found) == 0 ? (long)found.st_uid : -1;
}

uint64_t proc_cpu_ns(pid_t pid) {
  struct timespec spent;
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &spent) != 0) return 0;
  return (uint64_t)spent.tv_sec * 1000000000ULL + (uint64_t)spent.tv_nsec;
}

uint64_t proc_ticks_to_ns(uint64_t ticks) {
  long hz = sysconf(_SC_CLK_TCK);
  return ticks * (1000000000ULL / (uint64_t)(hz > 0 ? hz : 100));
}

static unsigned add_children(const char *path, pid_t *ret, unsigned max) {
  char text[CHILDREN_TEXT_BYTES];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  unsigned count = 0;
  if (fd >= 0) close(fd);
  if (len <= 0) return 0;
  text[len] = '\0';
  for (char *at = text, *end; count < max; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at || *end != ' ') break; /* the last number may be cut */
    ret[count++] = (pid_t)pid;
  }
  return count;
}

unsigned proc_children(pid_t pid, pid_t *ret, unsigned max) {
  char path[64];
  unsigned count = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return 0;
  unsigned threads = 0;
  for (const struct dirent *entry; count < max && threads < CHILDREN_THREADS_MAX;) {
    if ((entry = readdir(tasks)) == NULL) break;
    int tid = (int)strtol(entry->d_name, NULL, 10);
    if (tid <= 0) continue;
    threads++;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, tid);
    count += add_children(path, ret + count, max - count);
  }
  closedir(tasks);
  return count;
}

bool proc_shares_namespace(pid_t pid, const char *name) {
  char path[64], ours[64], theirs[64];
  snprintf(path, sizeof path, "/proc/self/ns/%.16s", name);
  ssize_t our_len = readlink(path, ours, sizeof ours);
  snprintf(path, sizeof path, "/proc/%d/ns/%.16s", (int)pid, name);
  ssize_t their_len = readlink(path, theirs, sizeof theirs);
  if (our_len <= 0 || their_len <= 0) return true;
  return our_len == their_len && memcmp(ours, theirs, (size_t)our_len) == 0;
}
