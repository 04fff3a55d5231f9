/* SPDX-License-Identifier: Apache-2.0 */
/* A control loop: a thread, SCHED_FIFO if permitted, wakes each PERIOD_MS, works for a fixed number
   of steps and must finish before its next period. It reads the clock every few steps: the excess
   of a period's longest stretch over the usual one is the time for which the thread was held up.
   Prints the missed deadlines, the usual and the longest time of the work, and the delays.

     deadline SECONDS */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PERIOD_MS = 4, STRETCHES = 300, STEPS = 1000, RUNS_MAX = 1000000 };
#define NS_PER_S 1000000000LL

static volatile uint64_t sink;
static int64_t *took, *held_up; /* of each period; held_up: its longest stretch */
static unsigned runs, missed, runs_wanted;
static const char *policy = "SCHED_FIFO";

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The work of one period.  Returns its longest stretch. */
static int64_t work(int64_t start) {
  int64_t longest = 0, before = start;
  for (int stretch = 0; stretch < STRETCHES; stretch++) {
    for (uint64_t i = 0; i < STEPS; i++) sink += i;
    int64_t now = now_ns();
    if (now - before > longest) longest = now - before;
    before = now;
  }
  return longest;
}

static void *control(void *unused) {
  struct sched_param priority = {.sched_priority = 10};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0) policy = "SCHED_OTHER";
  int64_t next = now_ns();
  while (runs < runs_wanted) {
    next += PERIOD_MS * 1000000LL;
    struct timespec at = {next / NS_PER_S, next % NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    int64_t start = now_ns();
    held_up[runs] = work(start);
    int64_t end = now_ns();
    took[runs++] = end - start;
    if (end > next + PERIOD_MS * 1000000LL) {
      missed++;
      next = end;
    }
  }
  return unused;
}

static int by_value(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

int main(int argc, char **argv) {
  runs_wanted = (argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1) * 1000 / PERIOD_MS;
  if (runs_wanted > RUNS_MAX || runs_wanted == 0) return 2;
  took = calloc(runs_wanted, sizeof *took);
  held_up = calloc(runs_wanted, sizeof *held_up);
  pthread_t thread;
  if (took == NULL || held_up == NULL || pthread_create(&thread, NULL, control, NULL) != 0)
    return 1;
  pthread_join(thread, NULL);
  qsort(took, runs, sizeof *took, by_value);
  qsort(held_up, runs, sizeof *held_up, by_value);
  int64_t usual = held_up[0];
  printf("%u missed of %u; work: median %lld us, longest %lld us; held up: median %lld us, "
         "p99.9 %lld us, longest %lld us; %s\n",
         missed, runs, (long long)took[runs / 2] / 1000, (long long)took[runs - 1] / 1000,
         (long long)(held_up[runs / 2] - usual) / 1000,
         (long long)(held_up[(uint64_t)runs * 999 / 1000] - usual) / 1000,
         (long long)(held_up[runs - 1] - usual) / 1000, policy);
  free(took);
  free(held_up);
  return 0;
}
