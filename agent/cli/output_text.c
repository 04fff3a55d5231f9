/* SPDX-License-Identifier: Apache-2.0 */
/* A regular file is written next to its place and then renamed: readers see the old or the new
   file.  Anything else is written into: a fifo, or /dev/stderr, which is a link.  SIGPIPE is
   ignored by then. */
#include "output_text.h"

#include "common/buf.h"
#include "common/owned_path.h"
#include "common/write_all.h"
#include "complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_CHARS = 200 /* of a name: ".PID.part" is appended */ };

/* Writes TEXT to FD (or returns FD if it is -errno) and closes it. */
static int write_into_take(int fd, const struct buf *text) {
  if (fd < 0) return fd;
  int error = write_all(fd, buf_span(text));
  if (close(fd) != 0 && error == 0) error = -errno;
  return error;
}

static int replace_in(int folder, const char *name, const struct buf *text) {
  char beside[NAME_MAX + 1];
  int len = snprintf(beside, sizeof beside, "%.*s.%ld.part", PART_CHARS, name, (long)getpid());
  if (len < 0 || (size_t)len >= sizeof beside) return -ENAMETOOLONG;
  int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return -errno;
  int error = write_into_take(fd, text);
  if (error == 0 && renameat(folder, beside, folder, name) != 0) error = -errno;
  if (error != 0) unlinkat(folder, beside, 0);
  return error;
}

/* Whether the entry must not be replaced: it is not a regular file, or it is a link. */
static bool is_kept(int folder, const char *name) {
  struct stat there;
  return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(there.st_mode);
}

static int write_to(const char *path, const struct buf *text) {
  char name[NAME_MAX + 1];
  int folder = owned_path_folder(path, name);
  if (folder < 0) return folder;
  int error = is_kept(folder, name)
                  ? write_into_take(owned_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), text)
                  : replace_in(folder, name, text);
  close(folder);
  return error;
}

int output_text_write(const char *command, const char *path, const struct buf *text) {
  int error = text->failed ? -ENOMEM : 0;
  if (error == 0)
    error = path == NULL ? write_all(STDOUT_FILENO, buf_span(text)) : write_to(path, text);
  if (error == 0 || (error == -EPIPE && path == NULL)) return 0;
  complaint("%s: %.500s: %s", command, path != NULL ? path : "stdout", owned_path_why(error));
  return 1;
}
