/* SPDX-License-Identifier: Apache-2.0 */
/* A thread with large thread-local variables, which lie between its stack and its descriptor
   (x86-64) and are larger than libc's own frames.

     large_tls [MS [STACK_KIB]]     MS of CPU time; on a stack that the program allocates */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { ROOM_BYTES = 256 << 10, ROUNDS = 100000 };

static _Thread_local volatile uint8_t room[ROOM_BYTES];

static uint64_t spent_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *work(void *argument) {
  uint64_t ms = *(const uint64_t *)argument;
  while (spent_ms() < ms)
    for (unsigned i = 0; i < ROUNDS; i++) room[i % ROOM_BYTES]++;
  return NULL;
}

int main(int argc, char **argv) {
  uint64_t ms = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
  size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) << 10 : 0;
  void *stack = bytes > 0 ? aligned_alloc(4096, bytes) : NULL;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (stack != NULL) pthread_attr_setstack(&attributes, stack, bytes);
  if (pthread_create(&thread, &attributes, work, &ms) != 0) return 1;
  return pthread_join(thread, NULL);
}
