/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is started in two steps: its process first, so that events can be opened on it and
   the daemon told of it, its exec when all is ready. */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include "paths.h"

#include <sys/resource.h>
#include <sys/types.h>

enum { LAUNCH_VARIABLES_MAX = 13 };

/* Variables that a preloaded program gets besides its own.  Borrowed. */
struct launch_environment {
  const char *names[LAUNCH_VARIABLES_MAX];
  const char *values[LAUNCH_VARIABLES_MAX];
  unsigned count;
};

struct launch {
  pid_t pid;
  int release_fd; /* written to: exec */
  int failure_fd; /* read from: why exec failed; closed by a successful one */
};

enum launch_manner {
  LAUNCH_PLAIN = 'p',     /* not sampled by us */
  LAUNCH_WATCHED = 'w',   /* sampled from outside: an agent that is preloaded anyway must not */
  LAUNCH_PRELOADED = 'e', /* with the extra variables */
};

/* Makes the process of PROGRAM (an argv), which waits.  ENVIRONMENT is for LAUNCH_PRELOADED.
   Returns 0 or -errno. */
int launch_start(char *const *program, const struct launch_environment *environment,
                 struct launch *ret);

/* Lets the program run.  Returns 0 once it does, or -errno of its exec: the process has then ended
   and is reaped. */
int launch_release(struct launch *launch, enum launch_manner manner);

/* Waits until the program ends.  Returns its wait status; RET_USAGE is that of its tree. */
int launch_wait(const struct launch *launch, struct rusage *ret_usage);

#endif
