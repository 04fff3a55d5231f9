/* SPDX-License-Identifier: Apache-2.0 */
/* A program that detects disturbance by foreign signals: a canary in errno, waits with a timeout
   that must not be interrupted, an alternate stack in use, its own handler that runs often, and a
   thread that blocks every signal.

     signals [SECONDS]     prints the number of disturbances, which must be 0 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { CANARY = 4242, SPINS = 1000, ALARM_US = 3000, STACK_BYTES = 16384 };

static _Atomic unsigned lost_canaries, interrupted_waits, own_signals, off_stack;
static volatile uint64_t sink;
static char alternate_stack[STACK_BYTES];
static double seconds = 1;

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void on_alarm(int signal) {
  (void)signal;
  int saved = errno;
  char here;
  const char *at = &here;
  if (at < alternate_stack || at >= alternate_stack + STACK_BYTES) atomic_fetch_add(&off_stack, 1);
  for (uint64_t i = 0; i < SPINS; i++) sink += i;
  atomic_fetch_add(&own_signals, 1);
  errno = saved;
}

static void spin_with_canary(void) {
  errno = CANARY;
  for (uint64_t i = 0; i < SPINS; i++) sink += i;
  if (errno != CANARY) atomic_fetch_add(&lost_canaries, 1);
}

/* Works and waits in turn. Signals arrive during work; they must not interrupt a wait. */
static void *wait_often(void *unused) {
  while (thread_seconds() < seconds) {
    for (int i = 0; i < SPINS; i++) spin_with_canary();
    if (poll(NULL, 0, 1) < 0) atomic_fetch_add(&interrupted_waits, 1);
    struct timespec nap = {.tv_nsec = 100000};
    if (nanosleep(&nap, NULL) < 0) atomic_fetch_add(&interrupted_waits, 1);
  }
  return unused;
}

static void *block_all(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  while (thread_seconds() < seconds / 4) spin_with_canary();
  return unused;
}

int main(int argc, char **argv) {
  if (argc > 1) seconds = strtod(argv[1], NULL);
  stack_t stack = {.ss_sp = alternate_stack, .ss_size = STACK_BYTES};
  if (sigaltstack(&stack, NULL) != 0) return 1;
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigset_t alarm; /* for the first thread alone: the others start with it blocked */
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, NULL);
  pthread_t waiter, blocker;
  if (pthread_create(&waiter, NULL, wait_often, NULL) != 0) return 1;
  if (pthread_create(&blocker, NULL, block_all, NULL) != 0) return 1;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, ALARM_US}, {0, ALARM_US}};
  setitimer(ITIMER_REAL, &every, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
  while (thread_seconds() < seconds) spin_with_canary();
  every = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  pthread_join(waiter, NULL);
  pthread_join(blocker, NULL);
  unsigned disturbed = lost_canaries + interrupted_waits + off_stack;
  printf("canaries %u, waits %u, stack %u\n", lost_canaries, interrupted_waits, off_stack);
  return disturbed == 0 && own_signals > 0 ? 0 : 1;
}
