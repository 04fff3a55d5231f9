/* SPDX-License-Identifier: Apache-2.0 */
/* Spends CPU time for SECONDS. Prints its own and its children's CPU time in nanoseconds, by
   getrusage.

     spender spin SECONDS      all the time
     spender sleep SECONDS     100 us at work, 100 us asleep
     spender threads SECONDS   four threads of 200 us at once, again and again
     spender forks SECONDS     children of 300 us, one after the other */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SLEEP_US = 100, THREAD_US = 200, CHILD_US = 300 };

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void work(uint64_t us) {
  for (uint64_t until = now_us() + us; now_us() < until;) continue;
}

static void *thread(void *unused) {
  work(THREAD_US);
  return unused;
}

static void sleep_often(void) {
  const struct timespec pause = {0, SLEEP_US * 1000};
  work(SLEEP_US);
  nanosleep(&pause, NULL);
}

static void thread_often(void) {
  pthread_t threads[THREADS];
  int count = 0;
  while (count < THREADS && pthread_create(&threads[count], NULL, thread, NULL) == 0) count++;
  while (count > 0) pthread_join(threads[--count], NULL);
}

static void fork_often(void) {
  pid_t child = fork();
  if (child == 0) {
    work(CHILD_US);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static uint64_t spent_ns(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  uint64_t us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return us * 1000;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  for (uint64_t until = now_us() + (uint64_t)(strtod(argv[2], NULL) * 1e6); now_us() < until;) {
    if (strcmp(argv[1], "sleep") == 0)
      sleep_often();
    else if (strcmp(argv[1], "threads") == 0)
      thread_often();
    else if (strcmp(argv[1], "forks") == 0)
      fork_often();
    else
      work(1000);
  }
  printf("%llu\n", (unsigned long long)(spent_ns(RUSAGE_SELF) + spent_ns(RUSAGE_CHILDREN)));
  return 0;
}
