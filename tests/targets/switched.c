/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be paused and resumed: two threads and a forked child that use the CPU, and threads
   that sleep in poll, which must not be interrupted.

     switched SECONDS [FILE]     runs that long, or until FILE exists; prints CPU seconds (with
                                 the child's), and how many of the sleepers' waits ended early */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPERS = 3, WAIT_MS = 50, CHUNK = 100000 };

static _Atomic double *until; /* shared with the child */
static const char *end_file;
static _Atomic unsigned interrupted;
static volatile unsigned long sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *burn(void *unused) {
  while (now() < *until)
    for (int i = 0; i < CHUNK; i++) sink += (unsigned long)i;
  return unused;
}

static void *sleep_on(void *unused) {
  while (now() < *until) {
    if (poll(NULL, 0, WAIT_MS) < 0 && errno == EINTR) interrupted++;
    if (end_file != NULL && access(end_file, F_OK) == 0) *until = 0;
  }
  return unused;
}

static double cpu_seconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv) {
  pthread_t burner, sleepers[SLEEPERS];
  until = mmap(NULL, sizeof *until, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (until == MAP_FAILED) return 1;
  *until = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
  end_file = argc > 2 ? argv[2] : NULL;
  pid_t child = fork();
  if (child == 0) {
    burn(NULL);
    return 0;
  }
  for (int i = 0; i < SLEEPERS; i++) pthread_create(&sleepers[i], NULL, sleep_on, NULL);
  pthread_create(&burner, NULL, burn, NULL);
  burn(NULL);
  pthread_join(burner, NULL);
  for (int i = 0; i < SLEEPERS; i++) pthread_join(sleepers[i], NULL);
  waitpid(child, NULL, 0);
  printf("%.6f %u\n", cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN), interrupted);
  return 0;
}
