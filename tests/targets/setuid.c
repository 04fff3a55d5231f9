/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is installed setuid by the test that runs it: prints who it is, spends a little
   CPU time, and shows whether the loader let a preload in.  Privileged programs must come through
   a profiled run with their privilege and without us. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t sink;

int main(void) {
  for (uint64_t i = 0; i < 50000000; i++) sink += i;
  printf("effective %s\n", geteuid() == getuid() ? "own" : "privileged");
  return geteuid() == getuid() ? 1 : 0;
}
