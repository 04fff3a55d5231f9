/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of calls whose leaf does all the work: main -> outer -> middle -> leaf. All CPU time is
   spent in leaf, which calls nothing.

     callers SECONDS */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noipa))

APART uint32_t leaf(uint32_t x) {
  for (int i = 0; i < 20000; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return x;
}

APART uint32_t middle(uint32_t x) {
  volatile uint32_t room[8] = {x};
  room[x % 8] = leaf(room[0]);
  return room[x % 8] + 1;
}

APART uint32_t outer(uint32_t x) {
  volatile uint32_t room[4] = {x};
  room[x % 4] = middle(room[0]);
  return room[x % 4] + 1;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  uint32_t x = 1;
  while ((double)clock() / CLOCKS_PER_SEC < seconds)
    for (int i = 0; i < 10; i++) x = outer(x | 1);
  return x == 0;
}
