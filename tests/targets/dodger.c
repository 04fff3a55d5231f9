/* SPDX-License-Identifier: Apache-2.0 */
/* A program that a timer cannot sample, or only in part. Its main thread also works except where
   noted, so some thread is always sampled.

     dodger raw SECONDS           two threads made by clone(2), past every library
     dodger block SECONDS         two threads that block every signal
     dodger replace SECONDS       main: its own handler for SIGURG and all real-time signals
     dodger ignore SECONDS        main: ignores the same
     dodger sandbox SECONDS       a seccomp filter that allows all, then two threads
     dodger exec SECONDS PROGRAM  becomes `PROGRAM SECONDS`, with no variable in its environment
     dodger cramped SECONDS       two threads with an alternate stack too small for a signal
     dodger plain SECONDS         main alone
     dodger untimed SECONDS       two threads; after half a second of CPU time it deletes all timers
     dodger deaf SECONDS          main and two threads block every signal
     dodger moment SECONDS        main blocks every signal for seven seconds

   Prints "done" at the end of its time or on SIGTERM: sampling must not have harmed it. If SPENT is
   in its environment, it also prints its CPU time. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SMALLEST_BYTES = 2048 /* that a kernel accepts */ };
enum { THREADS = 2, STACK_BYTES = 256 << 10, ROUNDS = 100000, TIMER_IDS = 4096 };

static volatile uint64_t sink[THREADS + 1];
static volatile _Atomic int is_over;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

__attribute__((noipa)) static void burn(unsigned who) {
  for (unsigned i = 0; i < ROUNDS; i++) sink[who] += i;
}

/* A raw thread shares no state with libc: no thread-local storage and no calls. */
static int be_raw(void *argument) {
  while (!is_over) burn((unsigned)(uintptr_t)argument);
  return 0;
}

/* Blocks SIGTERM too: the thread ends only with its time. */
static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void *be_blocked(void *argument) {
  block_all();
  while (!is_over) burn((unsigned)(uintptr_t)argument);
  return NULL;
}

static void *be_cramped(void *argument) {
  stack_t small = {.ss_sp = malloc(SMALLEST_BYTES), .ss_size = SMALLEST_BYTES};
  sigaltstack(&small, NULL);
  while (!is_over) burn((unsigned)(uintptr_t)argument);
  return NULL;
}

static void *be_plain(void *argument) {
  while (!is_over) burn((unsigned)(uintptr_t)argument);
  return NULL;
}

static void start_raw(uintptr_t who) {
  char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(be_raw, stack + STACK_BYTES, flags, (void *)who) < 0) exit(1);
}

static void start_two(void *(*body)(void *)) {
  pthread_t thread;
  for (uintptr_t i = 1; i <= THREADS; i++)
    if (pthread_create(&thread, NULL, body, (void *)i) != 0) exit(1);
}

/* Deletes every timer that it can find, like a program that cleans up inherited state. */
static void delete_timers(void) {
  while (spent_ns() < 500000000U) burn(0);
  for (int id = 0; id < TIMER_IDS; id++) syscall(SYS_timer_delete, id);
}

static void block_a_moment(void) {
  sigset_t none;
  uint64_t end = now_ns() + 7000000000U;
  block_all();
  while (now_ns() < end) burn(0);
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void stop(int signal) {
  (void)signal;
  is_over = 1;
}

static void nothing(int signal) {
  (void)signal;
}

static void take_signals(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) sigaction(signal, &action, NULL);
  sigaction(SIGURG, &action, NULL);
}

static void enter_sandbox(void) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {1, &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) exit(1);
}

static void dodge(const char *way, char **argv) {
  static char *const none[] = {NULL};
  char *const other[] = {argv[3], argv[2], NULL};
  if (strcmp(way, "raw") == 0)
    for (uintptr_t i = 1; i <= THREADS; i++) start_raw(i);
  else if (strcmp(way, "block") == 0)
    start_two(be_blocked);
  else if (strcmp(way, "cramped") == 0)
    start_two(be_cramped);
  else if (strcmp(way, "replace") == 0)
    take_signals(nothing);
  else if (strcmp(way, "ignore") == 0)
    take_signals(SIG_IGN);
  else if (strcmp(way, "exec") == 0)
    execve(argv[3], other, none);
  else if (strcmp(way, "untimed") == 0) {
    start_two(be_plain);
    delete_timers();
  } else if (strcmp(way, "deaf") == 0) {
    block_all();
    start_two(be_plain);
  } else if (strcmp(way, "moment") == 0)
    block_a_moment();
  else if (strcmp(way, "plain") != 0) {
    enter_sandbox();
    start_two(be_plain);
  }
}

int main(int argc, char **argv) {
  if (argc < 3 || (argc < 4 && strcmp(argv[1], "exec") == 0)) return 2;
  uint64_t end = now_ns() + (uint64_t)(atof(argv[2]) * 1e9);
  signal(SIGTERM, stop);
  dodge(argv[1], argv);
  while (!is_over && now_ns() < end) burn(0);
  is_over = 1;
  puts("done");
  if (getenv("SPENT") != NULL) printf("%.3f\n", (double)spent_ns() / 1e9);
  return 0;
}
