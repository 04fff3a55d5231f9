/* SPDX-License-Identifier: Apache-2.0 */
/* Threads start and end at the maximum rate: joined, detached, cancelled, ended by pthread_exit,
   and made by clone without libc. At the end the process must have as many timers as at the start
   and no more memory than half-way.

     churn THREADS     prints whether timers and memory are as they were, and the number of threads
                       a second */
#include "forger.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum {
  WAYS = 5,
  AT_ONCE = 6,
  STACK_BYTES = 64 << 10,
  ROUNDS = 30000,
  GROWTH_MAX_KB = 512,
  SETTLE_TRIES = 50,
  SETTLE_US = 100000,
};

static _Atomic unsigned ended;
static volatile uint64_t sink;

static void burn(void) {
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
}

static void ends(void *unused) {
  (void)unused;
  atomic_fetch_add(&ended, 1);
}

static void *work(void *argument) {
  const volatile unsigned way = (unsigned)(uintptr_t)argument % WAYS;
  pthread_cleanup_push(ends, NULL);
  burn();
  if (way == 1) pthread_exit(NULL);
  if (way == 2)
    for (;;) pause();
  pthread_cleanup_pop(1);
  return NULL;
}

static int raw_work(void *unused) {
  (void)unused;
  burn();
  atomic_fetch_add(&ended, 1);
  return 0;
}

/* A thread unknown to libc; the futex word that the kernel clears signals its end. */
static void raw_thread(void *stack) {
  _Atomic pid_t alive = 1;
  int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
              CLONE_CHILD_CLEARTID;
  if (clone(raw_work, (char *)stack + STACK_BYTES, flags, NULL, NULL, NULL, &alive) < 0) return;
  while (atomic_load(&alive) != 0) syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
}

static void one_batch(unsigned first, void *stack) {
  pthread_t threads[AT_ONCE];
  unsigned count = 0;
  for (unsigned i = 0; i < AT_ONCE; i++) {
    unsigned way = (first + i) % WAYS;
    if (way == 4) {
      raw_thread(stack);
      continue;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)way) != 0) abort();
    if (way == 3) pthread_detach(thread);
    if (way == 2) pthread_cancel(thread);
    if (way != 3) threads[count++] = thread;
  }
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static long rss_kb(void) {
  long kb = -1;
  char line[128];
  FILE *status = fopen("/proc/self/status", "re");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "RssAnon:", 8) == 0) kb = strtol(line + 8, NULL, 10);
  if (status != NULL) fclose(status);
  return kb;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) / AT_ONCE * AT_ONCE : 600;
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned timers = forger_look().timers;
  long half_kb = 0;
  double start = seconds_now();
  for (unsigned made = 0; made < wanted; made += AT_ONCE) {
    if (made <= wanted / 2) half_kb = rss_kb();
    one_batch(made, stack);
  }
  double a_second = wanted / (seconds_now() - start);
  /* Threads cancelled before their first instruction are never counted. */
  for (int i = 0; i < SETTLE_TRIES && forger_look().timers != timers; i++) usleep(SETTLE_US);
  unsigned left = forger_look().timers;
  long growth_kb = rss_kb() - half_kb;
  printf("timers as at the start: %s, memory as at half-way: %s, %.0f threads a second\n",
         left == timers ? "yes" : "no", growth_kb <= GROWTH_MAX_KB ? "yes" : "no", a_second);
  if (growth_kb > GROWTH_MAX_KB) fprintf(stderr, "%ld KiB more\n", growth_kb);
  if (left != timers) fprintf(stderr, "%u timers, %u at the start\n", left, timers);
  return left != timers || growth_kb > GROWTH_MAX_KB;
}
