/* SPDX-License-Identifier: Apache-2.0 */
/* A program that needs its own timers: makes COUNT and prints how many it got. They count against
   RLIMIT_SIGPENDING of the whole user.

     wants_timers COUNT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1, got = 0;
  for (; got < wanted; got++) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) break;
  }
  printf("%u of %u timers\n", got, wanted);
  return got != wanted;
}
