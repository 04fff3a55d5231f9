/* SPDX-License-Identifier: Apache-2.0 */
/* A preload that gives a daemon another wall clock and another boot:

     OTHER_WALL   a file with eight bytes, by how many nanoseconds the wall clock is off; they may
   be overwritten while the daemon runs, which is how its clock is set OTHER_BOOT   a file to be
   read as the kernel's boot id

   Nothing keeps such a clock (adjtimex).  Clocks that count from boot are a time namespace's
   business (`unshare -T`). */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000 };

static volatile int64_t *off_ns;

__attribute__((constructor)) static void find_files(void) {
  const char *path = getenv("OTHER_WALL");
  int fd = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY) : -1;
  void *at = fd >= 0 ? mmap(NULL, sizeof *off_ns, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (at != MAP_FAILED) off_ns = at;
  if (fd >= 0) close(fd);
}

int clock_gettime(clockid_t id, struct timespec *ret) {
  int result = (int)syscall(SYS_clock_gettime, id, ret);
  if (result != 0 || off_ns == NULL || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
    return result;
  int64_t ns = (int64_t)ret->tv_sec * NS + ret->tv_nsec + *off_ns;
  if (ns < 0) ns = 0;
  *ret = (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
  return 0;
}

time_t time(time_t *ret) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (ret != NULL) *ret = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

int adjtimex(struct timex *state) {
  int result = (int)syscall(SYS_adjtimex, state);
  state->status |= STA_UNSYNC;
  return result < 0 ? result : TIME_ERROR;
}

static const char *other(const char *path) {
  const char *boot = getenv("OTHER_BOOT");
  return boot != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path;
}

/* Our compiler flags make it open64, which our programs call. */
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openat(AT_FDCWD, other(path), flags, mode);
}
