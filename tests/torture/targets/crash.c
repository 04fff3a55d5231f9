/* SPDX-License-Identifier: Apache-2.0 */
/* Burns CPU in a separate function and then crashes. The crash handler, on an alternate stack,
   reports that it ran, restores the default and lets the program die of the same signal.

     crash segv|abort|overflow|bus MS [plain]     plain: without a handler */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ALTERNATE_BYTES = 64 << 10 };

static volatile uint64_t sink;
static volatile uint8_t *volatile nowhere;

void last_thing_before_the_crash(double ms);

__attribute__((noinline)) void last_thing_before_the_crash(double ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double until = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
  do {
    for (int i = 0; i < 100000; i++) sink += (uint64_t)i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < until);
}

static void on_crash(int number) {
  static const char text[] = "crash handler ran\n";
  if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(1);
  signal(number, SIG_DFL);
  raise(number);
}

static __attribute__((noinline)) uint64_t overflow(uint64_t depth) {
  volatile uint8_t room[4096];
  room[depth % sizeof room] = (uint8_t)depth;
  return depth == UINT64_MAX ? 0 : overflow(depth + 1) + room[depth % 7];
}

static void past_the_end_of_a_file(void) {
  int fd = memfd_create("crash", MFD_CLOEXEC);
  volatile uint8_t *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  sink += *map;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  static uint8_t alternate[ALTERNATE_BYTES];
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaltstack(&stack, NULL);
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT};
  for (unsigned i = 0; i < 3 && argc == 3; i++) sigaction(fatal[i], &action, NULL);
  last_thing_before_the_crash(strtod(argv[2], NULL));
  if (strcmp(argv[1], "segv") == 0) *nowhere = 1;
  if (strcmp(argv[1], "abort") == 0) abort();
  if (strcmp(argv[1], "bus") == 0) past_the_end_of_a_file();
  return (int)overflow(0);
}
