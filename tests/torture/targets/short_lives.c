/* SPDX-License-Identifier: Apache-2.0 */
/* short_lives SECONDS RATE: starts RATE processes a second; each execs this program again, works
   for a moment and ends. Prints their number; fails if one of them did not end normally. */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ULL

enum { AT_ONCE = 64, LIVES_TURNS = 20000, LIFE_STATUS = 7 };

extern char **environ;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int live(void) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < LIVES_TURNS; i++) sum += i;
  return LIFE_STATUS;
}

static unsigned alive, ended, odd;

static void reap(int options) {
  int status;
  while (alive > 0 && waitpid(-1, &status, options) > 0) {
    alive--;
    ended++;
    odd += !WIFEXITED(status) || WEXITSTATUS(status) != LIFE_STATUS;
    if (options == 0) break;
  }
}

static void start(const char *self) {
  char *words[] = {(char *)self, "life", NULL};
  pid_t pid;
  if (posix_spawn(&pid, self, NULL, NULL, words, environ) != 0) exit(3);
  alive++;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "life") == 0) return live();
  if (argc != 3) return 2;
  uint64_t begun_ns = now_ns(), until_ns = begun_ns + strtoull(argv[1], NULL, 10) * NS_PER_SECOND;
  uint64_t step_ns = NS_PER_SECOND / strtoull(argv[2], NULL, 10);
  for (uint64_t due_ns = begun_ns; now_ns() < until_ns; due_ns += step_ns) {
    while (now_ns() < due_ns) {
      struct timespec moment = {0, 200000};
      nanosleep(&moment, NULL);
      reap(WNOHANG);
    }
    while (alive >= AT_ONCE) reap(0);
    start(argv[0]);
    reap(WNOHANG);
  }
  while (alive > 0) reap(0);
  double seconds = (double)(now_ns() - begun_ns) / 1e9;
  printf("%u processes in %.1f s, %.0f a second\n", ended, seconds, ended / seconds);
  if (odd > 0) fprintf(stderr, "%u of them did not end as they should\n", odd);
  return odd > 0;
}
