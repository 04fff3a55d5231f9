/* SPDX-License-Identifier: Apache-2.0 */
/* `run --output` leaves nothing in the user's state: its daemon uses a private directory, which is
   deleted with the run.

   A recursive delete by root is dangerous if it has a bug.  So this one follows no link, descends
   one level (the depth of a daemon's state), and only sees directories that mkdtemp created.

   A run that was killed with all its processes could not clean up.  The next run does it, with or
   without --output.  It deletes a directory with our prefix and owner if its pid file has a pid and
   is not locked.  It also deletes a directory without a pid file or pid that is older than any
   start takes. */
#include "private_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define NAME_PREFIX "fleetprof-run-"

enum {
  PARENTS = 6,
  ENTRIES_MAX = 1 << 16,  /* entries of a temporary directory that are examined: about 20 ms */
  START_S = 60,           /* the longest time until a daemon has written its pid */
  DEPTH_MAX = 1,          /* DIR/spool */
  ROOM_BYTES = 256 << 10, /* accounting, log and other files of a daemon, except the profile */
};

/* Deletes the directory NAME of PARENT and its contents.  Subdirectories are emptied while DEPTH is
   not 0. */
static void remove_at(int parent, const char *name, unsigned depth) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
  if (directory == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (unlinkat(fd, entry->d_name, 0) != 0 && depth > 0) remove_at(fd, entry->d_name, depth - 1);
  }
  closedir(directory);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void private_state_remove(const char *dir) {
  remove_at(AT_FDCWD, dir, DEPTH_MAX);
}

/* Whether the daemon of the directory at PATH is gone, and was not about to start. */
static bool is_left_behind(const char *path) {
  struct stat found;
  struct path pid_file;
  if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid())
    return false;
  time_t age_s = time(NULL) - found.st_mtime; /* negative if the clock was set back since */
  bool is_old = age_s >= START_S || age_s < -START_S;
  if (paths_join(path, "fleetprofd.pid", &pid_file) != 0) return false;
  int fd = open(pid_file.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT && is_old;
  bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  bool has_pid = fstat(fd, &found) == 0 && found.st_size > 0; /* written when start-up ends */
  close(fd);
  return is_free && (has_pid || is_old);
}

static void sweep_in(const char *parent) {
  struct path path;
  DIR *directory = opendir(parent);
  if (directory == NULL) return;
  unsigned seen = 0;
  for (struct dirent *entry; seen < ENTRIES_MAX && (entry = readdir(directory)) != NULL; seen++)
    if (strncmp(entry->d_name, NAME_PREFIX, sizeof NAME_PREFIX - 1) == 0 &&
        paths_join(parent, entry->d_name, &path) == 0 && is_left_behind(path.text))
      private_state_remove(path.text);
  closedir(directory);
}

/* A file system without a size is taken to have room. */
static bool has_room(const char *dir) {
  struct statvfs found;
  if (statvfs(dir, &found) != 0 || found.f_blocks == 0) return true;
  return (uint64_t)found.f_bavail * found.f_frsize >= ROOM_BYTES;
}

/* Lists the candidate parent directories; NULL: unset. */
static void list_parents(const char *fallback, const char *ret[PARENTS]) {
  const char *const all[PARENTS] = {
      getenv("TMPDIR"), getenv("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp", "/dev/shm", fallback};
  for (size_t i = 0; i < PARENTS; i++) ret[i] = all[i] != NULL && all[i][0] == '/' ? all[i] : NULL;
}

void private_state_sweep(void) {
  const char *parents[PARENTS];
  list_parents(NULL, parents);
  for (size_t i = 0; i < PARENTS; i++)
    if (parents[i] != NULL) sweep_in(parents[i]);
}

int private_state_make(const char *fallback, struct path *ret) {
  const char *parents[PARENTS];
  int error = -ENOENT;
  list_parents(fallback, parents);
  for (size_t i = 0; i < PARENTS; i++) {
    if (parents[i] == NULL || paths_join(parents[i], NAME_PREFIX "XXXXXX", ret) != 0) continue;
    if (mkdtemp(ret->text) == NULL) {
      error = -errno;
      continue;
    }
    if (has_room(ret->text)) return 0;
    rmdir(ret->text);
    error = -ENOSPC;
  }
  return error;
}
