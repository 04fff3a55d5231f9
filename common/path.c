/* SPDX-License-Identifier: Apache-2.0 */
/* A program's name for people is the last component of its path: the service that nobody named, the
   heading of a column.  That is the path as it was given; no link is followed.

   Directories are made from the top, and mkdir itself says what is there already: to look first
   would be a race, and would want rights above the directory that nobody needs. */
#include "path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

const char *path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static int make_dir(const char *path, mode_t mode) {
  return mkdir(path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

int path_make_dirs(const char *path, mode_t mode) {
  char part[PATH_MAX];
  size_t len = strlen(path);
  if (len >= sizeof part) return -ENAMETOOLONG;
  for (size_t at = 1; at < len; at++) {
    if (path[at] != '/') continue;
    memcpy(part, path, at);
    part[at] = '\0';
    int error = make_dir(part, 0755);
    if (error) return error;
  }
  return make_dir(path, mode);
}
