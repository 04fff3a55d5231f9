/* SPDX-License-Identifier: Apache-2.0 */
/* A regular file is written beside its place and then put there: whoever reads it has the old one
   or the new one.  What is no regular file (a fifo, /dev/stderr) is written into.  SIGPIPE is
   ignored by then. */
#include "output_text.h"

#include "common/buf.h"
#include "common/write_all.h"
#include "complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_into(const char *path, int flags, const struct buf *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return -errno;
  int error = write_all(fd, buf_span(text));
  if (close(fd) != 0 && error == 0) error = -errno;
  return error;
}

static int replace(const char *path, const struct buf *text) {
  char beside[PATH_MAX];
  int len = snprintf(beside, sizeof beside, "%s.%ld.part", path, (long)getpid());
  if (len < 0 || (size_t)len >= sizeof beside) return -ENAMETOOLONG;
  int error = write_into(beside, O_CREAT | O_EXCL, text);
  if (error == 0 && rename(beside, path) != 0) error = -errno;
  if (error != 0) unlink(beside);
  return error;
}

int output_text_write(const char *command, const char *path, const struct buf *text) {
  struct stat there;
  int error = text->failed ? -ENOMEM : 0;
  if (error == 0 && path == NULL)
    error = write_all(STDOUT_FILENO, buf_span(text));
  else if (error == 0)
    error = stat(path, &there) == 0 && !S_ISREG(there.st_mode) ? write_into(path, 0, text)
                                                               : replace(path, text);
  if (error == 0 || (error == -EPIPE && path == NULL)) return 0;
  complaint("%s: %.500s: %s", command, path != NULL ? path : "stdout", strerror(-error));
  return 1;
}
