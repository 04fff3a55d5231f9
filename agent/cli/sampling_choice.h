/* SPDX-License-Identifier: Apache-2.0 */
/* The input of the sampler selection, and its result. */
#ifndef CLI_SAMPLING_CHOICE_H
#define CLI_SAMPLING_CHOICE_H

#include "intake/intake_format.h"
#include "run_settings.h"

#include <stdint.h>
#include <sys/types.h>

struct sampling_choice {
  const struct run_settings *settings;
  const char *socket;         /* the daemon's */
  pid_t pid;                  /* of the program, before its exec */
  pid_t daemon;               /* the pid of the supervisor that accepted the program, or 0 */
  uint64_t deadline_ns;       /* CLOCK_MONOTONIC; for all requests before the program runs */
  char why[INTAKE_WHY_BYTES]; /* why no better sampler was selected; grows with each failure */
};

#endif
