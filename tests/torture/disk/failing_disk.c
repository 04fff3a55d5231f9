/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: makes operations on files below FAILING_DISK_DIR fail or slow, as the
   file FAILING_DISK_HOW describes, while that file exists.

     NUMBER         writes and flushes fail with that error number; with EROFS, other changes
                    that a read-only file system refuses fail, too
     slow SECONDS   each flush takes that long; FAILING_DISK_SYNCS gets a line when one begins and
                    one when it ends

   FAILING_DISK_TYPE, a number, is the folder's type from statfs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at);
int ftruncate64(int fd, off64_t len);
int posix_fallocate64(int fd, off64_t at, off64_t len);

struct how {
  int number, seconds;
};

static struct how read_how(void) {
  const char *path = getenv("FAILING_DISK_HOW");
  struct how how = {0, 0};
  int saved = errno;
  FILE *file = path != NULL ? fopen(path, "re") : NULL;
  if (file != NULL) {
    if (fscanf(file, "slow %d", &how.seconds) != 1 && fscanf(file, "%d", &how.number) != 1)
      how = (struct how){0, 0};
    fclose(file);
  }
  errno = saved;
  return how;
}

static int is_below(const char *path) {
  const char *dir = getenv("FAILING_DISK_DIR");
  return dir != NULL && strncmp(path, dir, strlen(dir)) == 0;
}

static int is_there(int fd) {
  char link[64], path[4096];
  int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (len <= 0) return 0;
  path[len] = '\0';
  return is_below(path);
}

/* Whether an operation on FD must fail; errno is then its error. */
static int fails(int fd) {
  struct how how = read_how();
  if (how.number == 0 || !is_there(fd)) return 0;
  errno = how.number;
  return 1;
}

/* Whether a change of PATH must fail. */
static int is_refused(const char *path) {
  if (!is_below(path) || read_how().number != EROFS) return 0;
  errno = EROFS;
  return 1;
}

static int opens_to_write(const char *path, int flags) {
  struct stat status;
  int saved = errno, is_new = (flags & O_CREAT) != 0 && lstat(path, &status) != 0;
  errno = saved;
  if (is_new) return 1;
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return 0; /* EEXIST */
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
}

static void tell(const char *word) {
  const char *path = getenv("FAILING_DISK_SYNCS");
  int saved = errno, fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (fd >= 0 && write(fd, word, strlen(word)) < 0) errno = saved;
  if (fd >= 0) close(fd);
  errno = saved;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Fails, or is slow; CALL is the real one. */
static int flush(int fd, int (*call)(int fd)) {
  struct how how = read_how();
  if (fails(fd)) return -1;
  if (how.seconds == 0 || !is_there(fd)) return call(fd);
  tell("begin\n");
  for (unsigned left = (unsigned)how.seconds; left > 0;) left = sleep(left);
  int result = call(fd);
  tell("end\n");
  return result;
}

int fsync(int fd) {
  return flush(fd, REAL(fsync));
}

int fdatasync(int fd) {
  return flush(fd, REAL(fdatasync));
}

ssize_t write(int fd, const void *bytes, size_t len) {
  return fails(fd) ? -1 : REAL(write)(fd, bytes, len);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at) {
  return fails(fd) ? -1 : REAL(pwrite)(fd, bytes, len, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at) {
  return fails(fd) ? -1 : REAL(pwrite64)(fd, bytes, len, at);
}

int ftruncate(int fd, off_t len) {
  return fails(fd) ? -1 : REAL(ftruncate)(fd, len);
}

int ftruncate64(int fd, off64_t len) {
  return fails(fd) ? -1 : REAL(ftruncate64)(fd, len);
}

int posix_fallocate(int fd, off_t at, off_t len) {
  return fails(fd) ? errno : REAL(posix_fallocate)(fd, at, len);
}

int posix_fallocate64(int fd, off64_t at, off64_t len) {
  return fails(fd) ? errno : REAL(posix_fallocate64)(fd, at, len);
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

#define OPENS(name)                                                                   \
  int name(const char *path, int flags, ...) {                                        \
    va_list more;                                                                     \
    va_start(more, flags);                                                            \
    mode_t mode = mode_of(flags, more);                                               \
    va_end(more);                                                                     \
    if (is_below(path) && opens_to_write(path, flags) && is_refused(path)) return -1; \
    return REAL(name)(path, flags, mode);                                             \
  }
OPENS(open)
OPENS(open64)

int unlink(const char *path) {
  return is_refused(path) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
  return is_refused(path) ? -1 : REAL(mkdir)(path, mode);
}

int rename(const char *from, const char *to) {
  return is_refused(from) ? -1 : REAL(rename)(from, to);
}

static int says_type(const char *path) {
  const char *type = getenv("FAILING_DISK_TYPE");
  return type != NULL && is_below(path) ? (int)strtoul(type, NULL, 0) : 0;
}

int statfs(const char *path, struct statfs *ret) {
  int result = REAL(statfs)(path, ret), type = says_type(path);
  if (result == 0 && type != 0) ret->f_type = (__fsword_t)(unsigned)type;
  return result;
}

int statfs64(const char *path, struct statfs64 *ret) {
  int result = REAL(statfs64)(path, ret), type = says_type(path);
  if (result == 0 && type != 0) ret->f_type = (__fsword_t)(unsigned)type;
  return result;
}
