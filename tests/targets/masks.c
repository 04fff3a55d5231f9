/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its CPU time with signals blocked and unblocks them at the end, as many event loops do.

     masks loop SECONDS       blocks all signals but within ppoll, which waits a millisecond after
                              each 30 ms of work
     masks section SECONDS    blocks them for half a second of work, and works as long without

   Work with blocked signals is in `guarded`, other work in `exposed`. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double spent_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) void work(double seconds, unsigned rounds) {
  double until = spent_s() + seconds;
  while (spent_s() < until)
    for (volatile unsigned i = 0; i < rounds; i++) continue;
}

__attribute__((noinline)) static void guarded(double seconds) {
  work(seconds, 20000);
}

__attribute__((noinline)) static void exposed(double seconds) {
  work(seconds, 30000); /* differs, so a compiler cannot fold the two functions */
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  double seconds = strtod(argv[2], NULL);
  const struct timespec moment = {.tv_nsec = 1000000};
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, NULL);
  while (spent_s() < seconds) {
    if (strcmp(argv[1], "loop") == 0) {
      guarded(.03);
      ppoll(NULL, 0, &moment, &none);
    } else {
      sigprocmask(SIG_SETMASK, &all, NULL);
      guarded(.5);
      sigprocmask(SIG_SETMASK, &none, NULL);
      exposed(.5);
    }
  }
  return 0;
}
