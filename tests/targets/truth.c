/* SPDX-License-Identifier: Apache-2.0 */
/* A program that measures its own shares: two threads spend their CPU time 60/30/10 % in three
   functions, reached over two paths. After every burst each thread reads its own clock and
   continues with the function that is furthest below its share. Bursts have random length, so no
   sampler keeps step with them.

     truth [SECONDS]     prints: share share share user-seconds system-seconds

   The printed shares are measured by the thread clocks. */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { FUNCTIONS = 3, THREADS = 2, BURST_MIN = 5000, BURST_SPREAD = 60000 };

static const double wanted[FUNCTIONS] = {.6, .3, .1};

struct worker {
  double seconds;
  double spent[FUNCTIONS];
  uint64_t random;
};

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return *state >> 33;
}

#ifdef INLINED /* with the lines of a function that is inlined into the three */
static inline void burn(uint64_t random) {
  uint64_t x = random | 1;
  for (uint64_t left = BURST_MIN + random % BURST_SPREAD; left > 0; left--) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
  }
  sink += x;
}
#define WORK burn
#else
#define WORK(random) BURN(random, BURST_MIN + (random) % BURST_SPREAD)
#endif

LEAF alpha_sixty(uint64_t random) {
  WORK(random);
}

LEAF beta_thirty(uint64_t random) {
  WORK(random);
}

LEAF gamma_ten(uint64_t random) {
  WORK(random);
}

static inline void choose(int function, uint64_t random) {
  if (function == 0) alpha_sixty(random);
  if (function == 1) beta_thirty(random);
  if (function == 2) gamma_ten(random);
  __asm__ volatile("" ::: "memory"); /* no tail call: the path stays on the stack */
}

LEAF by_the_left(int function, uint64_t random) {
  choose(function, random);
}

LEAF by_the_right(int function, uint64_t random) {
  choose(function, random);
}

static int furthest_behind(const struct worker *worker, double total) {
  int furthest = 0;
  double most = -1;
  for (int i = 0; i < FUNCTIONS; i++) {
    double behind = wanted[i] * total - worker->spent[i];
    if (behind <= most) continue;
    most = behind;
    furthest = i;
  }
  return furthest;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  double start = thread_seconds(), now = start;
  while (now - start < worker->seconds) {
    int function = furthest_behind(worker, now - start);
    uint64_t random = next_random(&worker->random);
    if (random % 4 == 0)
      by_the_right(function, random);
    else
      by_the_left(function, random);
    double then = now;
    now = thread_seconds();
    worker->spent[function] += now - then;
  }
  return NULL;
}

static double seconds_of(const struct timeval *time) {
  return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
  struct worker workers[THREADS] = {{.seconds = seconds / THREADS, .random = 1},
                                    {.seconds = seconds / THREADS, .random = 2}};
  pthread_t second;
  if (pthread_create(&second, NULL, work, &workers[1]) != 0) return 1;
  work(&workers[0]);
  pthread_join(second, NULL);
  double spent[FUNCTIONS], total = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    spent[i] = workers[0].spent[i] + workers[1].spent[i];
    total += spent[i];
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%.4f %.4f %.4f %.4f %.4f\n", spent[0] / total, spent[1] / total, spent[2] / total,
         seconds_of(&usage.ru_utime), seconds_of(&usage.ru_stime));
  return 0;
}
