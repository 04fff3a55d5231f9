/* SPDX-License-Identifier: Apache-2.0 */
/* Users repeat the same command, so an earlier profile is no error: it is kept as FILE.old, one
   generation, as perf record does.  A file that is not a profile is never overwritten, also as
   FILE.old.

   Two concurrent runs with the same arguments (a variable in the environment of make -j) must not
   write the same file.  The holder of the file's lock writes, the other run gets an error.  The
   lock is taken first, then the file is checked; if its name meanwhile refers to another file, the
   attempt is repeated.

   All of this happens before the program starts: a run of an hour must not end with "permission
   denied". */
#include "output_file.h"

#include "common/owned_path.h"
#include "proto/spool_segment.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  ATTEMPTS_MAX = 8, /* to get the name and the lock at once */
  ROOM_BYTES = 4096,
};

static int name_old(const struct output_file *file, struct path *ret) {
  int len = snprintf(ret->text, sizeof ret->text, "%s.old", file->path.text);
  return len > 0 && (size_t)len < sizeof ret->text ? 0 : -ENAMETOOLONG;
}

static int refuse(const char *given, const char *what, char *why, size_t why_len) {
  snprintf(why, why_len, "--output: %.300s: %s", given, what);
  return -EINVAL;
}

static bool is_profile(int fd) {
  uint32_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
         le32toh(magic) == SPOOL_MAGIC;
}

/* Opens PATH.  Returns the reason why the file there must not be overwritten, or NULL. */
static const char *open_own(const char *path, int flags, int *ret_fd, struct stat *ret) {
  int fd = owned_path_open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | flags, 0666);
  *ret_fd = fd;
  if (fd < 0) return owned_path_why(fd);
  if (fstat(fd, ret) != 0) return strerror(errno);
  if (!S_ISREG(ret->st_mode)) return "is no regular file";
  if (ret->st_size > 0 && !is_profile(fd))
    return "holds something else than a profile; give another name, or remove it";
  return NULL;
}

/* Returns the reason why PATH must not be replaced, or NULL: only an earlier profile may be. */
static const char *judge_old(const char *path) {
  struct stat found;
  int fd;
  const char *fault = open_own(path, 0, &fd, &found);
  if (fd == -ENOENT) fault = NULL;
  if (fd >= 0) close(fd);
  return fault;
}

/* Renames an earlier profile. */
static int keep_old(const char *given, struct output_file *file, char *why, size_t why_len) {
  struct path old;
  char what[200];
  const char *fault = name_old(file, &old) ? strerror(ENAMETOOLONG) : judge_old(old.text);
  if (fault == NULL && rename(file->path.text, old.text) != 0) fault = strerror(errno);
  file->has_old = fault == NULL;
  if (fault == NULL) return 0;
  snprintf(what, sizeof what, "the earlier profile cannot be kept as .old: %s", fault);
  return refuse(given, what, why, why_len);
}

/* True if this process gets FD's lock, or if the file system has no locks. */
static bool lock(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static bool is_still_named(const char *path, const struct stat *opened) {
  struct stat found;
  return stat(path, &found) == 0 && found.st_dev == opened->st_dev &&
         found.st_ino == opened->st_ino;
}

static const char being_written[] = "is being written by another run";

/* One attempt.  Returns 0, -errno, or -EAGAIN if the name refers to another file meanwhile. */
static int take(const char *given, struct output_file *file, char *why, size_t why_len) {
  struct stat found;
  const char *fault = open_own(file->path.text, O_CREAT, &file->fd, &found);
  if (fault == NULL && !lock(file->fd)) fault = being_written;
  if (fault != NULL) return refuse(given, fault, why, why_len);
  if (!is_still_named(file->path.text, &found)) return -EAGAIN;
  if (found.st_size == 0) return 0;
  int error = keep_old(given, file, why, why_len);
  return error != 0 ? error : -EAGAIN; /* the name is free now */
}

/* Checks that there is room for the first entries.  Otherwise only the daemon would notice a full
   disk.  Some file systems cannot reserve space. */
static int reserve(const char *given, const struct output_file *file, char *why, size_t why_len) {
  struct rlimit limit;
  bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ROOM_BYTES;
  int error = is_limited ? EFBIG : posix_fallocate(file->fd, 0, ROOM_BYTES);
  if (!is_limited && ftruncate(file->fd, 0) != 0 && error == 0) error = errno;
  if (error != ENOSPC && error != EDQUOT && error != EFBIG) return 0;
  output_file_withdraw(file);
  return refuse(given, strerror(error), why, why_len);
}

static void release(struct output_file *file) {
  if (file->fd >= 0) close(file->fd);
  file->fd = -1;
}

int output_file_prepare(const char *given, struct output_file *ret, char *why, size_t why_len) {
  *ret = (struct output_file){.fd = -1};
  int error = paths_state(given, &ret->path);
  if (error != 0) return refuse(given, strerror(-error), why, why_len);
  error = -EAGAIN;
  for (unsigned i = 0; error == -EAGAIN && i < ATTEMPTS_MAX; i++) {
    release(ret);
    error = take(given, ret, why, why_len);
  }
  if (error == 0) error = reserve(given, ret, why, why_len);
  if (error == 0) return 0;
  release(ret);
  return error == -EAGAIN ? refuse(given, being_written, why, why_len) : error;
}

void output_file_withdraw(const struct output_file *file) {
  struct path old;
  if (!file->has_old)
    unlink(file->path.text);
  else if (name_old(file, &old) == 0)
    rename(old.text, file->path.text);
}
