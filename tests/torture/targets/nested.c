/* SPDX-License-Identifier: Apache-2.0 */
/* A program with its own real-time signal whose handler does forbidden things (allocates, formats,
   takes its time) on an alternate stack, while other timers repeatedly interrupt it there. Prints a
   sum that depends only on arithmetic.

     nested SECONDS */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { THREADS = 2, ALTERNATE_BYTES = 64 << 10, STEPS = 400 };

static volatile sig_atomic_t in_handler;
static _Thread_local volatile sig_atomic_t depth, deepest;
static volatile uint64_t handled, sunk;

static void on_own(int signal, siginfo_t *event, void *context) {
  (void)event;
  (void)context;
  char text[64];
  depth++;
  if (depth > deepest) deepest = depth;
  in_handler = 1;
  for (int i = 0; i < STEPS; i++) {
    snprintf(text, sizeof text, "%d of signal %d", i, signal);
    sunk += strlen(text);
  }
  handled++;
  in_handler = 0;
  depth--;
}

static void use_alternate_stack(void) {
  stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
  sigaltstack(&alternate, NULL);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *work(void *argument) {
  double until = seconds_now() + *(double *)argument;
  use_alternate_stack();
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX - 1};
  struct itimerspec times = {{0, 1500000}, {0, 1500000}};
  timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
  timer_settime(timer, 0, &times, NULL);
  uint64_t *sum = malloc(sizeof *sum);
  *sum = 0;
  while (seconds_now() < until)
    for (uint64_t i = 0; i < 100000; i++) *sum += i % 7 == 0;
  timer_delete(timer);
  *sum %= 14286; /* of each whole round */
  return sum;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  struct sigaction own = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigaction(SIGRTMAX - 1, &own, NULL);
  struct sigaction profile = own;
  sigaction(SIGALRM, &profile, NULL);
  struct itimerval real = {{0, 2300}, {0, 2300}};
  setitimer(ITIMER_REAL, &real, NULL);
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &seconds);
  for (unsigned i = 0; i < THREADS; i++) {
    void *sum;
    pthread_join(threads[i], &sum);
    if (*(uint64_t *)sum != 0) printf("a sum is wrong\n");
    free(sum);
  }
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  printf("%s\n", handled > 0 ? "own handlers ran" : "no own handler ran");
  return handled == 0;
}
