/* SPDX-License-Identifier: Apache-2.0 */
/* fast_clock.so: in a preloaded program, every clock except those of CPU time runs FAST_CLOCK times
   as fast (30) from the program's start, and every wait is shortened by that factor. So days of
   windows, pings, daily budgets and rounds pass in minutes, without a change of the program. Its
   peers run in real time, so their response times limit the factor. */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000LL
#define VISIBLE __attribute__((visibility("default")))

enum { CLOCKS = 12, FACTOR = 30 };

static int64_t begun_ns[CLOCKS];
static int64_t factor = FACTOR;

static int64_t true_ns(clockid_t id) {
  struct timespec now = {0, 0};
  syscall(SYS_clock_gettime, id, &now);
  return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns) {
  return (struct timespec){ns / NS_PER_SECOND, ns % NS_PER_SECOND};
}

static int is_scaled(clockid_t id) {
  return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW ||
         id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME;
}

/* Coarse clocks begin at the fine ones' values: code that mixes them sees no step. A worker forked
   by the supervisor continues from the same moment. */
static __attribute__((constructor)) void begin(void) {
  const char *asked = getenv("FAST_CLOCK");
  long times = asked != NULL ? strtol(asked, NULL, 10) : 0;
  if (times > 0) factor = times;
  for (clockid_t id = 0; id < CLOCKS; id++)
    if (is_scaled(id)) begun_ns[id] = true_ns(id);
  begun_ns[CLOCK_MONOTONIC_COARSE] = begun_ns[CLOCK_MONOTONIC];
  begun_ns[CLOCK_REALTIME_COARSE] = begun_ns[CLOCK_REALTIME];
}

VISIBLE int clock_gettime(clockid_t id, struct timespec *ret) {
  if (!is_scaled(id)) return (int)syscall(SYS_clock_gettime, id, ret);
  *ret = timespec_of(begun_ns[id] + (true_ns(id) - begun_ns[id]) * factor);
  return 0;
}

VISIBLE int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

static int shorter(int ms) {
  return ms <= 0 ? ms : (int)((ms + factor - 1) / factor);
}

VISIBLE int epoll_wait(int fd, struct epoll_event *events, int count, int ms) {
  static int (*next)(int, struct epoll_event *, int, int);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
  return next(fd, events, count, shorter(ms));
}

VISIBLE int poll(struct pollfd *fds, nfds_t count, int ms) {
  static int (*next)(struct pollfd *, nfds_t, int);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "poll");
  return next(fds, count, shorter(ms));
}

VISIBLE int nanosleep(const struct timespec *asked, struct timespec *left) {
  struct timespec wait = timespec_of((asked->tv_sec * NS_PER_SECOND + asked->tv_nsec) / factor);
  return (int)syscall(SYS_nanosleep, &wait, left);
}

VISIBLE int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                   const struct timespec *restrict until) {
  static int (*next)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  int64_t at_ns = until->tv_sec * NS_PER_SECOND + until->tv_nsec;
  int64_t begun = begun_ns[CLOCK_MONOTONIC];
  struct timespec wait = timespec_of(begun + (at_ns - begun) / factor);
  return next(cond, mutex, CLOCK_MONOTONIC, &wait);
}
