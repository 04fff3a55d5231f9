/* SPDX-License-Identifier: Apache-2.0 */
/* The timer sampler of `fleetprof run`: the agent preloaded into the program. */
#ifndef CLI_LAUNCH_TIMER_H
#define CLI_LAUNCH_TIMER_H

#include "launch.h"
#include "run_settings.h"

/* The variables of a preloaded program, which struct launch_environment points into. */
struct timer_variables {
  char preload[2 * PATHS_BYTES];
  char hz[16];
  char labels[INTAKE_LABELS_BYTES + 1];
  char asan[PATHS_BYTES];
  char filters[12];
  char bin_bytes[12], counter_bytes[12], last[12];
  struct launch_environment environment;
  char why[INTAKE_WHY_BYTES]; /* why there is none; empty: there is */
};

/* Makes the variables for a program whose daemon is at SOCKET.  Returns 0, or -errno with the
   reason in RET->why when there is no agent to preload. */
int launch_timer_prepare(const struct run_settings *settings, const char *socket,
                         struct timer_variables *ret);

#endif
