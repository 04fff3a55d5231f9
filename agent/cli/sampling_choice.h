/* SPDX-License-Identifier: Apache-2.0 */
/* What a sampler needs to be tried, and what became of it. */
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
  pid_t daemon;               /* that took the program on: its keeper, or 0 */
  uint64_t deadline_ns;       /* CLOCK_MONOTONIC; of everything asked before the program runs */
  char why[INTAKE_WHY_BYTES]; /* why no better sampler was taken; grows as they fail */
};

#endif
