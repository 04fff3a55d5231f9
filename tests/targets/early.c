/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor makes a program hard to identify: it moves the environment away from
   its original place and renames the process. Preloaded after the agent, so its constructor runs
   first. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { VARIABLES = 100 };

__attribute__((constructor)) static void come_early(void) {
  char name[32];
  unsetenv("PATH");
  for (int i = 0; i < VARIABLES; i++) {
    snprintf(name, sizeof name, "EARLY_%d", i);
    setenv(name, "moved", 1);
  }
  prctl(PR_SET_NAME, "renamed", 0, 0, 0);
}
