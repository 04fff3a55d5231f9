/* SPDX-License-Identifier: Apache-2.0 */
/* A static program: no loader, so no preload; only a sampler from outside sees it.

     static     works for a good half second and prints the result, always the same */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 300000000 };

__attribute__((noinline, noclone)) static uint64_t static_work(void) {
  uint64_t x = 1;
  for (int i = 0; i < ROUNDS; i++) x = x * 6364136223846793005U + 1442695040888963407U;
  return x;
}

int main(void) {
  printf("%016llx\n", (unsigned long long)static_work());
  return 0;
}
