/* SPDX-License-Identifier: Apache-2.0 */
/* Direct and mutual recursion, and leaves with several callers: the cases in which an export format
   can compute wrong sums. A script then renames the functions to names that an export format can
   write wrongly.

     odd_names [SECONDS]

   Bursts have random length, so no sampler keeps step with them. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;
static uint64_t state = 1;

#define PART __attribute__((noipa)) static void /* noipa: prevents folding of equal bodies */

static uint64_t next_random(void) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

PART burn_semicolon(void) {
  for (uint64_t left = 1000 + next_random() % 20000; left > 0; left--) sink += left;
}

PART burn_quotes(void) {
  for (uint64_t left = 1000 + next_random() % 10000; left > 0; left--) sink += left;
}

PART burn_utf8(void) {
  for (uint64_t left = 1000 + next_random() % 5000; left > 0; left--) sink += left;
}

PART walk_other(int depth);

PART walk_rust(int depth) {
  burn_quotes();
  if (depth > 0) walk_other(depth - 1);
  burn_semicolon();
}

PART walk_other(int depth) {
  burn_utf8();
  if (depth > 0) walk_rust(depth - 1);
  if (depth > 2) walk_other(depth - 2);
  __asm__ volatile(""); /* no tail call: the path stays on the stack */
}

PART operator_new(void) {
  walk_rust((int)(next_random() % 5));
  burn_utf8();
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  struct timespec now;
  do {
    for (int i = 0; i < 100; i++) operator_new();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
  return 0;
}
