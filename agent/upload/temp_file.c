/* SPDX-License-Identifier: Apache-2.0 */
#include "temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int temp_file_open(void) {
  const char *folder = getenv("TMPDIR");
  if (folder == NULL || *folder == '\0') folder = "/tmp";
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  char path[PATH_MAX]; /* the file system lacks O_TMPFILE */
  if (snprintf(path, sizeof path, "%s/fleetprof-upload-XXXXXX", folder) >= (int)sizeof path)
    return -ENAMETOOLONG;
  fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return -errno;
  unlink(path);
  return fd;
}

int temp_file_write(int fd, struct span bytes, uint64_t offset) {
  while (bytes.len > 0) {
    ssize_t put = pwrite(fd, bytes.data, bytes.len, (off_t)offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -errno;
    bytes = span_of(bytes.data + put, bytes.len - (size_t)put);
    offset += (uint64_t)put;
  }
  return 0;
}
