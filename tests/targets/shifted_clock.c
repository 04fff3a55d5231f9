/* SPDX-License-Identifier: Apache-2.0 */
/* A board whose wall clock is wrong by CLOCK_SHIFT_S seconds, for programs that are started with
   this library preloaded.  Clocks that count from boot are right. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t shift_s(void) {
  const char *text = getenv("CLOCK_SHIFT_S");
  return text != NULL ? (time_t)strtoll(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, ret);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    ret->tv_sec += shift_s();
  return code;
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
  *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
