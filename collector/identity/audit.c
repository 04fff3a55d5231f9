/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log.

   A log must not fill the disk. At a maximum size the file is renamed and a new one started: the
   log takes at most two files of that size. So events that unauthenticated peers can cause (a wrong
   token is a line), and boards' renewals, have logs of their own (rationed_log.c). Several
   processes write. Each line is one locked append. A process that finds the file renamed after it
   got the lock opens the new one. */
#include "audit.h"

#include "common/clock.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  AUDIT_BYTES_MAX = 16 << 20,
  AUDIT_LINE_BYTES = 1024,
  AUDIT_MODE = 0600,
  AUDIT_ATTEMPTS = 4, /* to find a file that no other process renames meanwhile */
};

static int open_locked(const char *path, struct stat *ret_status) {
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, AUDIT_MODE);
  if (fd < 0) return -errno;
  if (flock(fd, LOCK_EX) == 0 && fstat(fd, ret_status) == 0) return fd;
  int failure = -errno;
  close(fd);
  return failure;
}

static bool is_current(const char *path, const struct stat *status) {
  struct stat now;
  return stat(path, &now) == 0 && now.st_ino == status->st_ino && now.st_dev == status->st_dev;
}

static void put_aside(const char *path) {
  char aside[PATH_MAX];
  if (snprintf(aside, sizeof aside, "%s.1", path) < (int)sizeof aside) rename(path, aside);
}

static int print_line(const char *subject, const char *what, char line[AUDIT_LINE_BYTES]) {
  char time[32];
  clock_print_time(clock_walltime_ns(), time);
  int len = snprintf(line, AUDIT_LINE_BYTES, "%s %s: %s", time, subject, what);
  if (len > AUDIT_LINE_BYTES - 2) len = AUDIT_LINE_BYTES - 2;
  line[len] = '\0';
  text_show(line);
  line[len] = '\n';
  return len + 1;
}

int audit_append(const char *path, const char *subject, const char *what) {
  char line[AUDIT_LINE_BYTES];
  int len = print_line(subject, what, line);
  for (int attempt = 0; attempt < AUDIT_ATTEMPTS; attempt++) {
    struct stat status;
    int fd = open_locked(path, &status);
    if (fd < 0) return fd;
    bool is_ours = is_current(path, &status) && status.st_size < AUDIT_BYTES_MAX;
    if (!is_ours && is_current(path, &status)) put_aside(path);
    ssize_t written = is_ours ? write(fd, line, (size_t)len) : 0;
    int result = written == len ? 0 : written < 0 ? -errno : -EIO;
    close(fd);
    if (is_ours) return result;
  }
  return -EBUSY;
}
