/* SPDX-License-Identifier: Apache-2.0 */
/* A write of 0 bytes without an error would be repeated for ever: it counts as EIO. */
#include "write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, struct span bytes) {
  while (bytes.len > 0) {
    ssize_t written = write(fd, bytes.data, bytes.len);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? -errno : -EIO;
    bytes = span_of(bytes.data + written, bytes.len - (size_t)written);
  }
  return 0;
}
