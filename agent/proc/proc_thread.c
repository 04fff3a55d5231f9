/* SPDX-License-Identifier: Apache-2.0 */
/* schedstat is one line, and cheap for the kernel to print.  Without CONFIG_SCHED_INFO it is all
   zero; then the thread's stat file is used, in units of 10 ms.

   /proc/PID/timers has four lines per timer (kernels with CONFIG_CHECKPOINT_RESTORE):

      ID: 0
      signal: 60/00007f12345678c1
      notify: signal/tid.8402
      ClockID: -2

   It is authoritative, but not every user may read it.  Then the result is unknown, and never
   guessed. */
#include "proc_thread.h"
#include "proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  LINE_BYTES = 128,
  TIMERS_TEXT_BYTES = 32 << 10, /* at about 80 bytes per timer */
};

/* Reads at most LEN bytes of PATH.  Returns their number, or -errno. */
static ssize_t read_file(const char *path, char *bytes, size_t len) {
  size_t have = 0;
  ssize_t got = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  while (have < len && (got = read(fd, bytes + have, len - have)) > 0) have += (size_t)got;
  if (got < 0) got = -errno;
  close(fd);
  return got < 0 ? got : (ssize_t)have;
}

int proc_schedstat_parse(struct span text, struct proc_schedstat *ret) {
  char line[LINE_BYTES], *rest = line;
  size_t len = text.len < sizeof line - 1 ? text.len : sizeof line - 1;
  if (len > 0) memcpy(line, text.data, len);
  line[len] = '\0';
  if (line[0] < '0' || line[0] > '9') return -EBADMSG;
  uint64_t words[3];
  for (unsigned i = 0; i < 3; i++) {
    char *end;
    words[i] = strtoull(rest, &end, 10);
    if (end == rest) return -EBADMSG;
    rest = end;
  }
  if (words[0] + words[1] + words[2] == 0) return -EBADMSG;
  *ret = (struct proc_schedstat){words[0], words[1], words[2]};
  return 0;
}

int proc_schedstat_read(pid_t pid, pid_t tid, struct proc_schedstat *ret) {
  char path[64], text[LINE_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
  ssize_t got = read_file(path, text, sizeof text);
  if (got < 0) return (int)got;
  return proc_schedstat_parse(span_of(text, (size_t)got), ret);
}

static int read_ticks(pid_t pid, pid_t tid, uint64_t *ret_ns) {
  char path[64], text[1024];
  struct proc_stat stat;
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
  ssize_t got = read_file(path, text, sizeof text);
  if (got < 0) return (int)got;
  int error = proc_stat_parse(span_of(text, (size_t)got), &stat);
  if (!error) *ret_ns = proc_ticks_to_ns(stat.own_user_ticks + stat.own_system_ticks);
  return error;
}

int proc_thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *ret_ns) {
  struct proc_schedstat schedstat;
  if (proc_schedstat_read(pid, tid, &schedstat) != 0) return read_ticks(pid, tid, ret_ns);
  *ret_ns = schedstat.cpu_ns;
  return 0;
}

void proc_timers_parse(struct span text, int signal, struct proc_timers *ret) {
  char line[LINE_BYTES];
  int found = -1, tid;
  *ret = (struct proc_timers){.is_known = true};
  while (text.len > 0) {
    const uint8_t *end = memchr(text.data, '\n', text.len);
    if (end == NULL) return;
    size_t len = (size_t)(end - text.data), kept = len < LINE_BYTES - 1 ? len : LINE_BYTES - 1;
    memcpy(line, text.data, kept);
    line[kept] = '\0';
    text = span_of(end + 1, text.len - len - 1);
    if (strncmp(line, "signal: ", 8) == 0) found = (int)strtol(line + 8, NULL, 10);
    if (found != signal || sscanf(line, "notify: signal/tid.%d", &tid) != 1) continue;
    if (ret->count == PROC_TIMERS_MAX) {
      ret->is_known = false;
      return;
    }
    ret->tids[ret->count++] = (pid_t)tid;
  }
}

void proc_timers_read(pid_t pid, int signal, struct proc_timers *ret) {
  char path[32];
  ret->is_known = false;
  ret->count = 0;
  snprintf(path, sizeof path, "/proc/%d/timers", (int)pid);
  char *text = malloc(TIMERS_TEXT_BYTES);
  ssize_t got = text != NULL ? read_file(path, text, TIMERS_TEXT_BYTES) : -ENOMEM;
  if (got >= 0 && got < TIMERS_TEXT_BYTES)
    proc_timers_parse(span_of(text, (size_t)got), signal, ret);
  free(text);
}

bool proc_timers_has(const struct proc_timers *timers, pid_t tid) {
  for (uint32_t i = 0; i < timers->count; i++)
    if (timers->tids[i] == tid) return true;
  return false;
}
