/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler that people reach for is run again and again with the same words, so an earlier
   profile does not stop it: it is kept as FILE.old, one deep, as perf record does.  A file that is
   no profile is somebody's work and is never touched, whatever was typed.

   All of this happens before the program starts: a run of an hour must not end with "permission
   denied". */
#include "output_file.h"

#include "proto/spool_segment.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int name_old(const struct output_file *file, struct path *ret) {
  int len = snprintf(ret->text, sizeof ret->text, "%s.old", file->path.text);
  return len > 0 && (size_t)len < sizeof ret->text ? 0 : -ENAMETOOLONG;
}

static bool is_profile(int fd) {
  uint32_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
         le32toh(magic) == SPOOL_MAGIC;
}

static int refuse(const char *given, const char *what, char *why, size_t why_len) {
  snprintf(why, why_len, "--output: %.300s: %s", given, what);
  return -EINVAL;
}

/* Moves an earlier profile out of the way. */
static int keep_old(const char *given, struct output_file *file, char *why, size_t why_len) {
  struct path old;
  if (name_old(file, &old) != 0 || rename(file->path.text, old.text) != 0) {
    char what[100];
    snprintf(what, sizeof what, "the earlier profile cannot be kept as .old: %s", strerror(errno));
    return refuse(given, what, why, why_len);
  }
  file->has_old = true;
  return 0;
}

static int judge(const char *given, struct output_file *file, char *why, size_t why_len) {
  struct stat found;
  int fd = open(file->path.text, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) return 0;
  if (fd < 0 || fstat(fd, &found) != 0) {
    int error = errno;
    if (fd >= 0) close(fd);
    return refuse(given, strerror(error), why, why_len);
  }
  bool has_profile = found.st_size > 0 && is_profile(fd);
  close(fd);
  if (!S_ISREG(found.st_mode)) return refuse(given, "is no regular file", why, why_len);
  if (found.st_size == 0) return 0;
  if (has_profile) return keep_old(given, file, why, why_len);
  return refuse(given, "holds something else than a profile; give another name, or remove it", why,
                why_len);
}

int output_file_prepare(const char *given, struct output_file *ret, char *why, size_t why_len) {
  ret->has_old = false;
  int error = paths_state(given, &ret->path);
  if (error != 0) return refuse(given, strerror(-error), why, why_len);
  error = judge(given, ret, why, why_len);
  if (error != 0) return error;
  int fd = open(ret->path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0) {
    close(fd);
    return 0;
  }
  error = errno;
  output_file_withdraw(ret);
  return refuse(given, strerror(error), why, why_len);
}

void output_file_withdraw(const struct output_file *file) {
  struct path old;
  if (!file->has_old)
    unlink(file->path.text);
  else if (name_old(file, &old) == 0)
    rename(old.text, file->path.text);
}
