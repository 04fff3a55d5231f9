/* SPDX-License-Identifier: Apache-2.0 */
/* One link of a chain of execs: says what it is, burns a little CPU in two threads, and becomes the
   next.  Built dynamic here; the scenario builds it static, for 32 bits and with musl too.

     chain [NEXT [ARGUMENT...]] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 20000000 };

static void *burn(void *unused) {
  volatile uint64_t sink = 0;
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  printf("%u bits, uid %u, effective %u, %d more\n", (unsigned)sizeof(void *) * 8, getuid(),
         geteuid(), argc - 1);
  fflush(stdout);
  if (pthread_create(&thread, NULL, burn, NULL) != 0) return 1;
  burn(NULL);
  pthread_join(thread, NULL);
  if (argc < 2) return 21;
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 1;
}
