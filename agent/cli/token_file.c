/* SPDX-License-Identifier: Apache-2.0 */
#include "token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

int token_file_read(const char *path, char text[TOKEN_FILE_BYTES]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  size_t len = 0;
  ssize_t got = 0;
  while (
      len < TOKEN_FILE_BYTES - 1 &&
      ((got = read(fd, text + len, TOKEN_FILE_BYTES - 1 - len)) > 0 || (got < 0 && errno == EINTR)))
    if (got > 0) len += (size_t)got;
  int error = got < 0 ? -errno : len == TOKEN_FILE_BYTES - 1 ? -EOVERFLOW : 0;
  close(fd);
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
  text[len] = '\0';
  return error;
}
