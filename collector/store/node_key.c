/* SPDX-License-Identifier: Apache-2.0 */
/* The key is written to a temporary name, synced and linked into place. So a crash leaves either no
   key or a whole one; if two processes start at once, the second reads the first's key.

   Node ids use the first half. The second half is reserved for secrets that must not be used in
   ids, which leave the collector. Collectors of one fleet share the file and so make the same
   ids. */
#include "node_key.h"

#include "siphash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static int read_key(const char *path, uint8_t key[NODE_KEY_BYTES]) {
  uint8_t bytes[NODE_KEY_BYTES + 1];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t len = read(fd, bytes, sizeof bytes);
  int error = len < 0 ? -errno : len != NODE_KEY_BYTES ? -EBADMSG : 0;
  close(fd);
  for (unsigned i = 0; error == 0 && i < NODE_KEY_BYTES; i++) key[i] = bytes[i];
  return error;
}

static int write_key(const char *path) {
  uint8_t key[NODE_KEY_BYTES];
  if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) return -EIO;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return -errno;
  ssize_t len = write(fd, key, sizeof key);
  int error = len < 0 ? -errno : len != (ssize_t)sizeof key ? -ENOSPC : 0;
  if (error == 0 && fsync(fd) != 0) error = -errno;
  if (close(fd) != 0 && error == 0) error = -errno;
  return error;
}

static int sync_folder(const char *dir) {
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int error = fsync(fd) == 0 ? 0 : -errno;
  close(fd);
  return error;
}

int node_key_read(const char *dir, uint8_t key[NODE_KEY_BYTES]) {
  char path[PATH_BYTES];
  int len = snprintf(path, sizeof path, "%s/node.key", dir);
  return len < 0 || len >= (int)sizeof path ? -ENAMETOOLONG : read_key(path, key);
}

uint64_t node_key_mark(const uint8_t key[NODE_KEY_BYTES]) {
  return siphash(key, span_of_string(NODE_KEY_NAME)) >> 1;
}

int node_key_open(const char *dir, uint8_t key[NODE_KEY_BYTES]) {
  char path[PATH_BYTES], fresh[PATH_BYTES];
  int len = snprintf(path, sizeof path, "%s/node.key", dir);
  if (len < 0 || len + 24 > (int)sizeof fresh) return -ENAMETOOLONG;
  int error = read_key(path, key);
  if (error != -ENOENT) return error;
  len = snprintf(fresh, sizeof fresh, "%s/node.key.%ld", dir, (long)getpid());
  if (len < 0 || len >= (int)sizeof fresh) return -ENAMETOOLONG;
  error = write_key(fresh);
  if (error == 0 && link(fresh, path) != 0 && errno != EEXIST) error = -errno;
  unlink(fresh);
  if (error == 0) error = sync_folder(dir);
  return error != 0 ? error : read_key(path, key);
}
