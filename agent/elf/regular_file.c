/* SPDX-License-Identifier: Apache-2.0 */
/* The path may lead to anything by now, and opening some devices has effects (a watchdog starts to
   count, a tape rewinds). So it is first opened with O_PATH and checked, and the checked file
   itself is then opened: no name is followed twice. */
#include "regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int reopen(int seen) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", seen);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int regular_file_open(const char *path, struct stat *ret) {
  int seen = open(path, O_PATH | O_CLOEXEC);
  if (seen < 0) return -errno;
  int fd = fstat(seen, ret) < 0 ? -errno : S_ISREG(ret->st_mode) ? reopen(seen) : -EINVAL;
  close(seen);
  return fd;
}
