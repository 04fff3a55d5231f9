/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler by setitimer, used as a last resort or if requested by name:

     one for the process   the kernel signals the thread that runs as the clock expires, and does
                           not report expiries that it could not deliver: a signal is one period
     not inherited         a forked child must set its own
     survives exec         dangerous: the signal of the next program is at its default, death
     one for all           the program may set it too, before or after the agent

   So it is set only if none runs, and changed later only while its interval is the one that the
   agent set. Another interval means another owner. (Another owner's timer with the same interval,
   to the microsecond, would be taken for the agent's.) */
#include "process_timer.h"
#include "kernel_words.h"
#include "raw_syscall.h"
#include "ring/divide.h"

#include <errno.h>
#include <sys/time.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

/* The kernel's struct itimerval. */
struct process_times {
  struct kernel_time interval, first;
};

static uintptr_t kind_of(enum ring_clock clock) {
  return clock == RING_CLOCK_VIRTUAL ? (uintptr_t)ITIMER_VIRTUAL : (uintptr_t)ITIMER_PROF;
}

static uint64_t us_of(uint64_t ns) {
  return ns < NS_PER_US ? 1 : divide(ns, NS_PER_US);
}

static struct kernel_time timeval_of(uint64_t us) {
  uint64_t seconds = divide(us, US_PER_S);
  return (struct kernel_time){(long)seconds, (long)(us - seconds * US_PER_S)};
}

static uint64_t us_of_timeval(const struct kernel_time *time) {
  return (uint64_t)time->seconds * US_PER_S + (uint64_t)time->parts;
}

static int set(enum ring_clock clock, uint64_t period_us, uint64_t first_us) {
  struct process_times times = {timeval_of(period_us), timeval_of(first_us)};
  return (int)raw_syscall(SYS_setitimer, kind_of(clock), (uintptr_t)&times, 0, 0);
}

/* True if a timer runs. */
static bool get(enum ring_clock clock, uint64_t *ret_period_us) {
  struct process_times times;
  *ret_period_us = 0;
  if (raw_syscall(SYS_getitimer, kind_of(clock), (uintptr_t)&times, 0, 0) != 0) return false;
  *ret_period_us = us_of_timeval(&times.interval);
  return us_of_timeval(&times.first) != 0;
}

int process_timer_set(const struct process_timer *ours, uint64_t first_ns, uint64_t before_ns) {
  uint64_t period_us;
  bool is_running = get(ours->clock, &period_us);
  if (is_running && (before_ns == 0 || period_us != us_of(before_ns))) return -EBUSY;
  return set(ours->clock, us_of(ours->period_ns), us_of(first_ns));
}

void process_timer_stop(const struct process_timer *ours) {
  uint64_t period_us;
  if (get(ours->clock, &period_us) && period_us == us_of(ours->period_ns)) set(ours->clock, 0, 0);
}

bool process_timer_runs(enum ring_clock clock, bool *ret_is_periodic) {
  uint64_t period_us;
  bool is_running = get(clock, &period_us);
  *ret_is_periodic = is_running && period_us != 0;
  return is_running;
}

void process_timer_clear(enum ring_clock clock) {
  set(clock, 0, 0);
}
