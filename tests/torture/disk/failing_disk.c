/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: writes to files below FAILING_DISK_DIR, and flushes of them, fail with
   the error number that the file FAILING_DISK_HOW holds, for as long as there is one. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at);
int ftruncate64(int fd, off64_t len);

/* Whether an operation on FD is to fail; errno says with what. */
static int fails(int fd) {
  const char *how = getenv("FAILING_DISK_HOW"), *dir = getenv("FAILING_DISK_DIR");
  char link[64], path[4096];
  int saved = errno, number = 0;
  FILE *file = how != NULL && dir != NULL ? fopen(how, "re") : NULL;
  if (file == NULL) {
    errno = saved;
    return 0;
  }
  if (fscanf(file, "%d", &number) != 1) number = 0;
  fclose(file);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t path_len = readlink(link, path, sizeof path - 1);
  size_t dir_len = strlen(dir);
  int is_there = path_len > (ssize_t)dir_len && memcmp(path, dir, dir_len) == 0;
  errno = is_there && number > 0 ? number : saved;
  return is_there && number > 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t len) {
  return fails(fd) ? -1 : REAL(write)(fd, bytes, len);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at) {
  return fails(fd) ? -1 : REAL(pwrite)(fd, bytes, len, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at) {
  return fails(fd) ? -1 : REAL(pwrite64)(fd, bytes, len, at);
}

int fsync(int fd) {
  return fails(fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd) {
  return fails(fd) ? -1 : REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t len) {
  return fails(fd) ? -1 : REAL(ftruncate)(fd, len);
}

int ftruncate64(int fd, off64_t len) {
  return fails(fd) ? -1 : REAL(ftruncate64)(fd, len);
}
