/* SPDX-License-Identifier: Apache-2.0 */
/* A program's name for users is the last component of its path, as for a default service or the
   heading of a column. The path is used as given; no link is followed.

   Directories are made from the top, and mkdir itself reports existing ones. A check beforehand
   would be a race, and would need rights to the parent directory that are not required
   otherwise. */
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
