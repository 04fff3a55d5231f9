/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks are allocated with posix_fallocate, since zeros could become a hole. On a file system
   without preallocation it writes the blocks, with the same result. */
#include "reserve.h"

#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, RENEW_TIMES = 8 };

static bool path_of(const char *dir, char path[PATH_BYTES]) {
  return (size_t)snprintf(path, PATH_BYTES, "%s/reserve", dir) < PATH_BYTES;
}

/* Sets the size of DIR's reserve, and the free space of its file system. */
static bool measure(const char *dir, uint64_t *ret_reserve, uint64_t *ret_free) {
  struct statvfs fs;
  if (statvfs(dir, &fs) != 0) return false;
  uint64_t part = fs.f_blocks * (uint64_t)fs.f_frsize / RESERVE_FRACTION;
  *ret_reserve = part < RESERVE_BYTES ? part : RESERVE_BYTES;
  *ret_free = fs.f_bavail * (uint64_t)fs.f_frsize;
  return true;
}

bool reserve_release(const char *dir) {
  char path[PATH_BYTES];
  uint64_t reserve = 0, room = 0;
  if (!path_of(dir, path) || !measure(dir, &reserve, &room) || room >= reserve) return false;
  if (unlink(path) != 0) return false;
  log_warn("disk-full %s: the reserve is given up, so that the collector can start and delete what "
           "is old",
           dir);
  return true;
}

void reserve_renew(const char *dir) {
  char path[PATH_BYTES];
  uint64_t reserve = 0, room = 0;
  if (!path_of(dir, path) || access(path, F_OK) == 0 || errno != ENOENT) return;
  if (!measure(dir, &reserve, &room) || reserve == 0 || room / RENEW_TIMES < reserve) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  int failed = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)reserve);
  if (fd >= 0) close(fd);
  if (failed != 0) {
    log_debug("disk-full %s: no reserve: %s", dir, strerror(failed));
    unlink(path);
  }
}
