/* SPDX-License-Identifier: Apache-2.0 */
/* Many short threads, several alive at once, with every kind of end: return, pthread_exit,
   cancellation, detached. Some have the minimum stack size.

     threads [COUNT]     prints the number of finished threads, which must be COUNT */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 8, WAYS = 4, ROUNDS = 12000000, DETACHED_WAIT_MS = 10000 };

static _Atomic unsigned ended;
static volatile uint64_t sink;

static void ends(void *unused) {
  (void)unused;
  atomic_fetch_add(&ended, 1);
}

static void *work(void *argument) {
  unsigned way = *(unsigned *)argument % WAYS;
  pthread_cleanup_push(ends, NULL);
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
  if (way == 1) pthread_exit(NULL);
  if (way == 2)
    for (;;) pause();
  pthread_cleanup_pop(1);
  return NULL;
}

static int start(pthread_t *thread, unsigned *number) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (*number % 2 == 1) pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
  int error = pthread_create(thread, &attributes, work, number);
  pthread_attr_destroy(&attributes);
  return error;
}

static int run_some(unsigned first, unsigned count) {
  pthread_t threads[AT_ONCE];
  static unsigned numbers[AT_ONCE];
  for (unsigned i = 0; i < count; i++) {
    numbers[i] = first + i;
    if (start(&threads[i], &numbers[i]) != 0) return 1;
  }
  for (unsigned i = 0; i < count; i++) {
    if (numbers[i] % WAYS == 2) pthread_cancel(threads[i]);
    if (numbers[i] % WAYS == 3)
      pthread_detach(threads[i]);
    else
      pthread_join(threads[i], NULL);
  }
  for (int waited = 0; atomic_load(&ended) < first + count && waited < DETACHED_WAIT_MS; waited++)
    usleep(1000);
  return 0;
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
  for (unsigned done = 0; done < count; done += AT_ONCE)
    if (run_some(done, count - done < AT_ONCE ? count - done : AT_ONCE) != 0) return 1;
  printf("%u of %u threads came to their end\n", atomic_load(&ended), count);
  return atomic_load(&ended) == count ? 0 : 1;
}
