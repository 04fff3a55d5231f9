/* SPDX-License-Identifier: Apache-2.0 */
/* A program with rare kinds of stacks, to compare unwinders: frames of variable size, realigned
   frames, callbacks from qsort, signal handlers on the stack and on an alternate stack, nested
   handlers, the vDSO, lazily bound PLT entries, functions that are all prologue and epilogue, deep
   recursion. Built without frame pointers.

     frame_kinds SECONDS         of CPU time, in main and in one more thread each */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { OTHER_STACK_BYTES = 64 << 10, NUMBERS = 200 };

static volatile uint64_t sink;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static __attribute__((noinline)) void work(unsigned rounds) {
  uint64_t x = sink | 1;
  for (unsigned i = 0; i < rounds; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  sink = x;
}

static __attribute__((noinline)) uint64_t least(uint64_t a) {
  return a ^ sink;
}

/* Keeps its registers over calls, so it pushes them, does almost nothing, and pops them. */
static __attribute__((noinline)) uint64_t shallow(uint64_t a, uint64_t b) {
  uint64_t c = least(a), d = least(b), e = least(c), f = least(d);
  return a + b + c + d + e + f;
}

static __attribute__((noinline)) void variable(unsigned depth, unsigned bytes) {
  uint8_t *room = __builtin_alloca(bytes);
  memset(room, (int)depth, bytes);
  work(20);
  if (depth > 0) variable(depth - 1, bytes % 300 + 16);
  sink += room[bytes / 2];
}

static __attribute__((noinline)) void realigned(unsigned depth, unsigned bytes) {
  uint8_t wide[96] __attribute__((aligned(64)));
  memset(wide, (int)depth, sizeof wide);
  uint8_t *room = __builtin_alloca(bytes);
  room[0] = wide[depth % 96];
  __asm__ volatile("" : : "r"(wide), "r"(room) : "memory");
  work(20);
  if (depth > 0) realigned(depth - 1, bytes + 16);
  sink += wide[3] + room[0];
}

static __attribute__((noinline)) unsigned deep(unsigned n) {
  work(1);
  return n == 0 ? 0 : deep(n - 1) + (unsigned)sink % 2;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  work(3);
  return (x > y) - (x < y);
}

static __attribute__((noinline)) void sort(void) {
  int numbers[NUMBERS];
  char text[64];
  for (int i = 0; i < NUMBERS; i++) numbers[i] = (int)(sink >> 7) * i % 1009;
  qsort(numbers, NUMBERS, sizeof *numbers, compare);
  for (int i = 0; i < 20; i++) snprintf(text, sizeof text, "%d %.3f %s", numbers[i], i / 7.0, "x");
  sink += (uint64_t)text[2];
}

static void on_inner(int number) {
  (void)number;
  variable(3, 100);
}

static void on_outer(int number) {
  (void)number;
  raise(SIGUSR2);
  work(2000);
  realigned(2, 32);
}

static void catch (int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

static __attribute__((noinline)) void everything(void) {
  struct timespec now;
  variable(10, 64);
  realigned(6, 48);
  deep(60);
  sort();
  for (unsigned i = 0; i < 300; i++) sink += shallow(sink, i);
  for (unsigned i = 0; i < 200; i++) clock_gettime(CLOCK_MONOTONIC, &now);
  raise(SIGUSR1);
  raise(SIGUSR2);
}

static void *run(void *seconds) {
  static _Thread_local uint8_t other[OTHER_STACK_BYTES];
  stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
  double end = cpu_seconds() + *(const double *)seconds;
  sigaltstack(&stack, NULL);
  while (cpu_seconds() < end) everything();
  return NULL;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
  struct itimerval often = {.it_interval.tv_usec = 3000, .it_value.tv_usec = 3000};
  pthread_t thread;
  catch (SIGUSR1, on_outer, SA_ONSTACK);
  catch (SIGUSR2, on_inner, 0);
  catch (SIGPROF, on_outer, 0);
  /* CPU time, so that handlers have the same part on a busy machine. */
  setitimer(ITIMER_PROF, &often, NULL);
  if (pthread_create(&thread, NULL, run, &seconds) != 0) return 1;
  run(&seconds);
  pthread_join(thread, NULL);
  return 0;
}
