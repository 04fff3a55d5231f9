/* SPDX-License-Identifier: Apache-2.0 */
/* The program is searched only in the installation of the calling program. No environment variable
   and no PATH can redirect a collector. Its descriptor stays open, so it matches this version even
   after an update has replaced the file. */
#include "reader_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Relative to bin/, and relative to lib/fleetprof/. */
static const char *const places[] = {"../lib/fleetprof/fleetprof-symbols", "fleetprof-symbols"};

enum { DESCRIPTOR_MIN = 10 }; /* above the descriptors that the program is started with */

static int open_program(const char *path) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return -errno;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
  int error = moved < 0 ? -errno : 0;
  close(fd);
  return error != 0 ? error : moved;
}

static int open_installed(void) {
  char own[PATH_MAX], path[PATH_MAX + 64];
  ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
  if (len <= 0) return len < 0 ? -errno : -ENOENT;
  own[len] = '\0';
  char *slash = strrchr(own, '/');
  if (slash == NULL) return -ENOENT;
  slash[1] = '\0';
  int fd = -ENOENT;
  for (size_t i = 0; i < sizeof places / sizeof places[0] && fd == -ENOENT; i++) {
    snprintf(path, sizeof path, "%s%s", own, places[i]);
    fd = open_program(path);
  }
  return fd;
}

int reader_path_open(void) {
  int fd = open_installed();
#ifdef READER_BUILT
  if (fd == -ENOENT) fd = open_program(READER_BUILT);
#endif
  return fd;
}
