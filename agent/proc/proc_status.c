/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of "Name:\tvalue".  The first line has the thread's name, which may contain anything except
   a line end (the kernel escapes that).  So field names are matched only at the start of a line.

   The result is true at the moment of reading: a thread may block a signal or enter a sandbox right
   after.  Callers use it as a precaution and must tolerate a late result. */
#include "proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 4096 };

static void set_queue(struct proc_status *status, const char *text) {
  char *rest;
  status->queued = strtoull(text, &rest, 10);
  if (*rest == '/') status->queue_max = strtoull(rest + 1, NULL, 10);
}

static const char *value_of(const char *line, const char *name) {
  size_t len = strlen(name);
  if (strncmp(line, name, len) != 0) return NULL;
  return line + len + strspn(line + len, " \t");
}

static void take_line(struct proc_status *status, const char *line) {
  const char *value;
  if ((value = value_of(line, "State:")) != NULL)
    status->state = *value;
  else if ((value = value_of(line, "Uid:")) != NULL)
    status->uid = (uint32_t)strtoul(value, NULL, 10);
  else if ((value = value_of(line, "SigQ:")) != NULL)
    set_queue(status, value);
  else if ((value = value_of(line, "SigBlk:")) != NULL)
    status->blocked = strtoull(value, NULL, 16);
  else if ((value = value_of(line, "SigCgt:")) != NULL)
    status->caught = strtoull(value, NULL, 16);
  else if ((value = value_of(line, "Seccomp:")) != NULL)
    status->seccomp = (uint32_t)strtoul(value, NULL, 10);
  else if ((value = value_of(line, "Seccomp_filters:")) != NULL)
    status->filters = (uint32_t)strtoul(value, NULL, 10);
  else if ((value = value_of(line, "voluntary_ctxt_switches:")) != NULL)
    status->sleeps = strtoull(value, NULL, 10);
  else if ((value = value_of(line, "nonvoluntary_ctxt_switches:")) != NULL)
    status->pushes = strtoull(value, NULL, 10);
}

int proc_status_parse(struct span text, struct proc_status *ret) {
  struct proc_status status = {.uid = UINT32_MAX, .filters = PROC_FILTERS_UNKNOWN};
  char copy[TEXT_BYTES_MAX];
  size_t len = text.len < sizeof copy - 1 ? text.len : sizeof copy - 1;
  if (len > 0) memcpy(copy, text.data, len);
  copy[len] = '\0';
  char *rest = copy;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) take_line(&status, line);
  if (status.state == '\0') return -EBADMSG;
  *ret = status;
  return 0;
}

int proc_status_read(pid_t pid, pid_t tid, struct proc_status *ret) {
  char path[64], text[TEXT_BYTES_MAX];
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t got = read(fd, text, sizeof text);
  int error = got < 0 ? -errno : 0;
  close(fd);
  return error ? error : proc_status_parse(span_of(text, (size_t)got), ret);
}
