/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof run` in $( ) must not wait for the daemon that it started, so the daemon keeps none of
   its starter's descriptors, in particular no pipes.  The starter's process stays until the socket
   listens, and its exit status reports that.  So "start it, then connect" has no race.

      starter ──fork──▶ middle (setsid) ──fork──▶ supervisor
        └─ waits on a pipe; end of file or a line is the answer */
#include "daemonize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  FIRST_OWN_FD = 3,
  LOG_BYTES_MAX = 1 << 20,
  LINE_BYTES_MAX = 8192,
};

/* For kernels without close_range (before 5.9). */
static void close_listed(void) {
  DIR *folder = opendir("/proc/self/fd");
  if (folder == NULL) {
    for (long fd = FIRST_OWN_FD, end = sysconf(_SC_OPEN_MAX); fd < end; fd++) close((int)fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    int fd = (int)strtol(entry->d_name, NULL, 10);
    if (fd >= FIRST_OWN_FD && fd != dirfd(folder)) close(fd);
  }
  closedir(folder);
}

void daemonize_close_inherited(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, FIRST_OWN_FD, ~0U, 0) == 0) return;
#endif
  close_listed();
}

static void wait_for_report(int fd, pid_t middle) {
  char line[LINE_BYTES_MAX];
  size_t len = 0;
  for (ssize_t got; len < sizeof line; len += (size_t)got) {
    got = read(fd, line + len, sizeof line - len);
    if (got < 0 && errno == EINTR)
      got = 0;
    else if (got <= 0)
      break;
  }
  waitpid(middle, NULL, 0);
  if (len == 1 && line[0] == '\n') _exit(0);
  if (len > 0 && write(STDERR_FILENO, line, len) < 0) _exit(1);
  _exit(1);
}

int daemonize_begin(void) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  pid_t middle = fork();
  if (middle < 0) return -errno;
  if (middle > 0) {
    close(report[1]);
    wait_for_report(report[0], middle);
  }
  close(report[0]);
  setsid();
  pid_t daemon = fork();
  if (daemon != 0) _exit(daemon > 0 ? 0 : 1);
  umask(022);
  return chdir("/") == 0 ? report[1] : -errno;
}

void daemonize_report(int fd, const char *why) {
  char line[LINE_BYTES_MAX];
  int len = snprintf(line, sizeof line, "%s\n", why ? why : "");
  if (len >= (int)sizeof line) len = (int)sizeof line - 1;
  if (write(fd, line, (size_t)len) < 0) { /* the starter is gone */
  }
  close(fd);
}

int daemonize_redirect(const char *path) {
  struct stat found;
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  int error = null < 0 || log < 0 ? -errno : 0;
  if (!error && fstat(log, &found) == 0 && found.st_size > LOG_BYTES_MAX && ftruncate(log, 0) < 0)
    error = -errno;
  if (!error && (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
                 dup2(log, STDERR_FILENO) < 0))
    error = -errno;
  if (null >= 0) close(null);
  if (log >= 0) close(log);
  return error;
}
