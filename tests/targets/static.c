/* SPDX-License-Identifier: Apache-2.0 */
/* A static program: no loader, so no preload; only a sampler from outside sees it.

     static [TIMES]     works for a good half second (each time) and prints the result, always the
   same */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 300000000 };

__attribute__((noinline, noclone)) static uint64_t static_work(void) {
  uint64_t x = 1;
  for (int i = 0; i < ROUNDS; i++) x = x * 6364136223846793005U + 1442695040888963407U;
  __asm__ volatile("" ::: "memory"); /* prevents merging of calls into one */
  return x;
}

int main(int argc, char **argv) {
  long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
  uint64_t result = static_work();
  for (long i = 1; i < times; i++) result = static_work();
  printf("%016llx\n", (unsigned long long)result);
  return 0;
}
