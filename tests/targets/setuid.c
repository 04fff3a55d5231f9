/* SPDX-License-Identifier: Apache-2.0 */
/* A program that a test installs setuid. It prints its user ids, spends a little CPU time, and
   shows whether the loader accepted a preload. Privileged programs must keep their privilege under
   a profiled run, and run without the agent. */
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
