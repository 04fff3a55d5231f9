/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run, like coroutines, on stacks of the program's own without room for a signal
   frame: a guard page lies OWN_BYTES below. Each has an alternate stack, and only a handler that
   requests it can run.

     own_stack MS */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { THREADS = 2, PAGE = 4096, OWN_BYTES = 1024, ALTERNATE_BYTES = 64 << 10, ROUNDS = 200000 };

static double ms;

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void burn(void) {
  for (double until = ms_now() + ms; ms_now() < until;)
    for (volatile unsigned left = ROUNDS; left > 0; left--) {
    }
}

static void *work(void *unused) {
  ucontext_t caller, own;
  char *guard = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
  if (guard == MAP_FAILED || mprotect(guard, PAGE, PROT_NONE) != 0) exit(1);
  if (sigaltstack(&alternate, NULL) != 0 || getcontext(&own) != 0) exit(1);
  own.uc_stack = (stack_t){.ss_sp = guard + PAGE, .ss_size = OWN_BYTES};
  own.uc_link = &caller;
  makecontext(&own, burn, 0);
  swapcontext(&caller, &own);
  munmap(guard, 2 * PAGE);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  if (argc != 2) return 2;
  ms = strtod(argv[1], NULL);
  for (unsigned i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("all came back from their own stacks");
  return 0;
}
