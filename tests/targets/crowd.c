/* SPDX-License-Identifier: Apache-2.0 */
/* COUNT threads or children that spend MS of CPU time each.

     crowd threads COUNT MS    all at once
     crowd forks COUNT MS      children, all at once
     crowd turns COUNT MS      threads, one after the other
     crowd c11 COUNT MS        threads made by thrd_create, all at once
     crowd vforks COUNT MS     COUNT threads, one after the other, each with a vfork child that
                               waits for a signal before it ends; then one that spends MS
     crowd leaderless COUNT MS  threads, all at once; the first one has ended by pthread_exit
     crowd heirs COUNT MS      threads, one after the other; the first one has ended likewise

   Prints the CPU seconds of the program and its children, as the kernel measures them. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { COUNT_MAX = 2048, SPIN = 20000 };

static uint64_t wanted_ns;

static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *work(void *unused) {
  uint64_t until = spent_ns() + wanted_ns;
  while (spent_ns() < until)
    for (volatile unsigned i = 0; i < SPIN; i++) continue;
  return unused;
}

static int threads(unsigned count, unsigned at_once) {
  pthread_t started[COUNT_MAX];
  for (unsigned first = 0; first < count; first += at_once) {
    for (unsigned i = first; i < first + at_once; i++)
      if (pthread_create(&started[i], NULL, work, NULL) != 0) return 1;
    for (unsigned i = first; i < first + at_once; i++) pthread_join(started[i], NULL);
  }
  return 0;
}

static int c11_work(void *unused) {
  work(unused);
  return 7;
}

static int c11(unsigned count) {
  thrd_t started[COUNT_MAX];
  int failures = 0, result;
  for (unsigned i = 0; i < count; i++)
    if (thrd_create(&started[i], c11_work, NULL) != thrd_success) return 1;
  for (unsigned i = 0; i < count; i++)
    failures += thrd_join(started[i], &result) != thrd_success || result != 7;
  return failures;
}

static void *vfork_one(void *unused) {
  struct timespec at_once = {0, 0};
  sigset_t all;
  sigfillset(&all);
  pid_t child = vfork();
  if (child == 0) {
    sigtimedwait(&all, NULL, &at_once);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return unused;
}

static int vforks(unsigned count) {
  pthread_t thread;
  for (unsigned i = 0; i <= count; i++) {
    if (pthread_create(&thread, NULL, i < count ? vfork_one : work, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

static int forks(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child > 0) continue;
    work(NULL);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  return 0;
}

static double seconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int leaderless(unsigned count) {
  pthread_t started;
  for (unsigned i = 0; i < count; i++)
    if (pthread_create(&started, NULL, work, NULL) != 0) return 1;
  pthread_exit(NULL);
}

static unsigned heir_count;

static void *make_turns(void *unused) {
  if (threads(heir_count, 1) != 0) _exit(1);
  return unused;
}

static int heirs(unsigned count) {
  pthread_t started;
  heir_count = count;
  if (pthread_create(&started, NULL, make_turns, NULL) != 0) return 1;
  pthread_exit(NULL);
}

static int go(const char *way, unsigned count) {
  if (strcmp(way, "forks") == 0) return forks(count);
  if (strcmp(way, "c11") == 0) return c11(count);
  if (strcmp(way, "leaderless") == 0) return leaderless(count);
  if (strcmp(way, "heirs") == 0) return heirs(count);
  if (strcmp(way, "vforks") == 0) return vforks(count);
  return threads(count, strcmp(way, "turns") == 0 ? 1 : count);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  unsigned long count = strtoul(argv[2], NULL, 10);
  if (count < 1 || count > COUNT_MAX) return 2;
  wanted_ns = strtoul(argv[3], NULL, 10) * 1000000;
  int failure = go(argv[1], (unsigned)count);
  printf("%.6f\n", seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN));
  return failure;
}
