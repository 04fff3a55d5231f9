/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its time where addresses have unusual names: in the vDSO, in the signal trampoline, in PLT
   stubs, in functions chosen by IFUNC, in thread-local storage by descriptor.

     corners MS     of each; prints the thread's CPU time in each, in ms, vDSO, PLT, IFUNC, local */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

enum {
  BLOCK = 4096,
  AT_ONCE = 2000,
  BETWEEN_LOOKS = 50, /* of the clock, whose system call counts under the vDSO's name */
};

static volatile uint64_t sink;
static uint8_t from[BLOCK], to[BLOCK];
static __thread uint64_t local;

static void on_usr(int signal) {
  sink += (uint64_t)signal;
}

__attribute__((noinline)) static void in_vdso(void) {
  struct timespec now;
  for (int i = 0; i < AT_ONCE; i++) clock_gettime(CLOCK_MONOTONIC, &now);
}
__attribute__((noinline)) static void in_trampoline(void) {
  for (int i = 0; i < AT_ONCE / 20; i++) raise(SIGUSR1);
}
__attribute__((noinline)) static void in_plt(void) {
  for (int i = 0; i < AT_ONCE; i++) sink += (uint64_t)labs((long)sink) + getauxval(AT_PAGESZ);
}
__attribute__((noinline)) static void in_ifunc(void) {
  for (int i = 0; i < AT_ONCE / 10; i++) {
    memcpy(to, from, sizeof to - (sink & 7));
    sink += strlen((const char *)to);
  }
}
__attribute__((noinline)) static void in_local(void) {
  for (int i = 0; i < AT_ONCE; i++) *(volatile uint64_t *)&local += 1;
}

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  double ms = argc > 1 ? strtod(argv[1], NULL) : 200;
  static void (*const corners[])(void) = {in_vdso, in_plt, in_ifunc, in_local, in_trampoline};
  signal(SIGUSR1, on_usr);
  memset(from, 'x', sizeof from - 1);
  for (unsigned i = 0; i < sizeof corners / sizeof *corners; i++) {
    double start = ms_now(), now = start;
    for (; now < start + ms; now = ms_now())
      for (int again = 0; again < BETWEEN_LOOKS; again++) corners[i]();
    printf("%.3f ", now - start);
  }
  printf("\n");
  return 0;
}
