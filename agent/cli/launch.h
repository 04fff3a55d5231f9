/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program in two steps.  Its process comes first, so that events can be opened on it and
   the daemon can register it.  Its exec follows when all is ready. */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include "paths.h"

#include <sys/resource.h>
#include <sys/types.h>

enum { LAUNCH_VARIABLES_MAX = 13 };

/* Variables for a preloaded program, in addition to its own.  Borrowed. */
struct launch_environment {
  const char *names[LAUNCH_VARIABLES_MAX];
  const char *values[LAUNCH_VARIABLES_MAX];
  unsigned count;
};

struct launch {
  pid_t pid;
  int release_fd; /* a byte written to it starts exec */
  int failure_fd; /* delivers the errno of a failed exec; a successful exec closes it */
};

enum launch_manner {
  LAUNCH_PLAIN = 'p',     /* not sampled by this run */
  LAUNCH_WATCHED = 'w',   /* sampled from outside: a preloaded agent must not sample */
  LAUNCH_PRELOADED = 'e', /* with the extra variables */
};

/* Creates the process of PROGRAM (an argv), which waits.  ENVIRONMENT is for LAUNCH_PRELOADED.
   Returns 0 or -errno. */
int launch_start(char *const *program, const struct launch_environment *environment,
                 struct launch *ret);

/* Starts exec.  Returns 0 when it has succeeded, or its -errno: the process has then ended and is
   reaped. */
int launch_release(struct launch *launch, enum launch_manner manner);

/* Waits until the program ends.  Returns its wait status, with the usage of its process tree in
   RET_USAGE. */
int launch_wait(const struct launch *launch, struct rusage *ret_usage);

#endif
