/* SPDX-License-Identifier: Apache-2.0 */
/* CPU-time timers are better for a target than interval timers in three ways. A sleeping thread
   spends no CPU time, so it is never woken. The kernel deletes them at exec, while an interval
   timer survives and kills the next program. Each thread has its own, so every thread is sampled in
   proportion to its CPU time.

   The kernel delivers expiries at its tick; si_overrun counts those between two ticks.

   The clock is named by the thread's number (CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED), so that one
   thread can make the timers of all. The handler that finds the ring resumed does that.

   The structs are the kernel's own. struct sigevent is the same in libc, but not every libc names
   the member that holds the thread ID. */
#include "sample_timer.h"
#include "kernel_words.h"
#include "raw_syscall.h"
#include "ring/divide.h"

#include <errno.h>
#include <signal.h>

enum { CLOCK_OF_THREAD = 6, CLOCK_TID_SHIFT = 3 };

#define NS_PER_S 1000000000ULL

/* struct sigevent in the kernel's layout: value, signal, kind, then the thread ID. */
union timer_event {
  struct {
    void *token;
    int signal;
    int notify;
    int tid;
  } fields;
  struct sigevent libc; /* for its size only */
};

struct timer_times {
  struct kernel_time interval, first;
};

struct timer_times64 {
  struct kernel_time64 interval, first;
};

static struct kernel_time64 time_of(uint64_t ns) {
  uint64_t seconds = divide(ns, NS_PER_S);
  return (struct kernel_time64){(int64_t)seconds, (int64_t)(ns - seconds * NS_PER_S)};
}

static struct kernel_time shorten(struct kernel_time64 time) {
  return (struct kernel_time){(long)time.seconds, (long)time.parts};
}

static uintptr_t clock_of(uint32_t tid) {
  return (uintptr_t)(intptr_t)(int)(~tid << CLOCK_TID_SHIFT | CLOCK_OF_THREAD);
}

int sample_timer_set(const struct sample_timer_plan *plan, int timer) {
  struct timer_times64 wide = {time_of(plan->period_ns), time_of(plan->first_ns)};
  struct timer_times times = {shorten(wide.interval), shorten(wide.first)};
  long error = raw_syscall(SYS_timer_settime, (uintptr_t)timer, 0, (uintptr_t)&times, 0);
  if (error != -ENOSYS) return (int)error;
  return (int)raw_syscall(SYS_timer_settime64, (uintptr_t)timer, 0, (uintptr_t)&wide, 0);
}

int sample_timer_arm(const struct sample_timer_plan *plan, uint32_t tid, void *token,
                     int *ret_timer) {
  union timer_event event = {0};
  event.fields.token = token;
  event.fields.signal = plan->signal;
  event.fields.notify = SIGEV_THREAD_ID;
  event.fields.tid = (int)tid;
  int timer = -1;
  long error =
      raw_syscall(SYS_timer_create, clock_of(tid), (uintptr_t)&event, (uintptr_t)&timer, 0);
  if (error != 0) return (int)error;
  error = sample_timer_set(plan, timer);
  if (error != 0) {
    sample_timer_disarm(timer);
    return (int)error;
  }
  *ret_timer = timer;
  return 0;
}

uint64_t sample_timer_left_ns(int timer) {
  struct timer_times times = {{0, 0}, {0, 0}};
  struct timer_times64 wide = {{0, 0}, {0, 0}};
  long error = raw_syscall(SYS_timer_gettime, (uintptr_t)timer, (uintptr_t)&times, 0, 0);
  if (error == 0)
    wide.first = (struct kernel_time64){times.first.seconds, times.first.parts};
  else if (error == -ENOSYS)
    error = raw_syscall(SYS_timer_gettime64, (uintptr_t)timer, (uintptr_t)&wide, 0, 0);
  return error == 0 ? (uint64_t)wide.first.seconds * NS_PER_S + (uint64_t)wide.first.parts : 0;
}

void sample_timer_disarm(int timer) {
  raw_syscall(SYS_timer_delete, (uintptr_t)timer, 0, 0, 0);
}

uint64_t sample_timer_first_ns(uint64_t period_ns, uint64_t seed) {
  /* splitmix64: every bit of the seed reaches every bit of the result */
  seed += 0x9e3779b97f4a7c15;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
  return 1 + divide_rest(seed ^ seed >> 31, period_ns);
}
