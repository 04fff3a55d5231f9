/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads that each burn a little CPU and then wait until all have, so that all are alive at
   once; ends SECONDS later.

     sleepers THREADS SECONDS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 200000, THREADS_MAX = 1000 };

static pthread_barrier_t barrier;
static unsigned seconds;

static void *work(void *unused) {
  volatile uint64_t sink = 0;
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
  pthread_barrier_wait(&barrier);
  sleep(seconds);
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
  return unused;
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10;
  seconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
  static pthread_t threads[THREADS_MAX];
  if (count > THREADS_MAX || pthread_barrier_init(&barrier, NULL, count + 1) != 0) return 2;
  for (unsigned i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  printf("%u threads\n", count);
  return 0;
}
