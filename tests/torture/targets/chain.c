/* SPDX-License-Identifier: Apache-2.0 */
/* One link of a chain of execs: prints its kind, burns CPU in two threads, drops its setuid user,
   and executes the next. Built dynamic here; the scenario also builds it static, for 32 bits and
   with musl. The name of its burning function depends on the link's place: first, between or last.

     chain [NEXT [ARGUMENT...]]     CHAIN_MS: CPU time of each thread; CHAIN_SPENT: a file, to which
                                    the last link writes the time of all, in nanoseconds */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200000, DEFAULT_MS = 30 }; /* a third of a ms between two looks at the clock */

static double ms = DEFAULT_MS;
static int is_first, is_last;

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Three, different enough that no compiler merges them. */
__attribute__((noinline)) static void burn_first(volatile uint64_t *sink) {
  for (uint64_t i = 0; i < ROUNDS; i++) *sink += i;
}
__attribute__((noinline)) static void burn_between(volatile uint64_t *sink) {
  for (uint64_t i = 0; i < ROUNDS; i++) *sink ^= i;
}
__attribute__((noinline)) static void burn_last(volatile uint64_t *sink) {
  for (uint64_t i = 0; i < ROUNDS; i++) *sink -= i;
}

static void *burn(void *unused) {
  volatile uint64_t sink = 0;
  for (double until = ms_now() + ms; ms_now() < until;)
    (is_first ? burn_first : is_last ? burn_last : burn_between)(&sink);
  return unused;
}

static void say_what_was_spent(const char *path) {
  struct rusage used;
  FILE *file = fopen(path, "we");
  if (file == NULL) exit(3);
  getrusage(RUSAGE_SELF, &used);
  fprintf(file, "%lld\n",
          (long long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
              (long long)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000);
  fclose(file);
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (getenv("CHAIN_MS") != NULL) ms = strtod(getenv("CHAIN_MS"), NULL);
  is_first = getenv("CHAIN_HAS_BEGUN") == NULL;
  is_last = argc < 2;
  setenv("CHAIN_HAS_BEGUN", "1", 1);
  printf("%u bits, uid %u, effective %u, %d more\n", (unsigned)sizeof(void *) * 8, getuid(),
         geteuid(), argc - 1);
  fflush(stdout);
  if (pthread_create(&thread, NULL, burn, NULL) != 0) return 1;
  burn(NULL);
  pthread_join(thread, NULL);
  if (geteuid() != getuid() && setresuid(getuid(), getuid(), getuid()) != 0) return 1;
  if (is_last) {
    if (getenv("CHAIN_SPENT") != NULL) say_what_was_spent(getenv("CHAIN_SPENT"));
    return 21;
  }
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 1;
}
