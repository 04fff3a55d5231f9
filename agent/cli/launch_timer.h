/* SPDX-License-Identifier: Apache-2.0 */
/* The timer sampler of `fleetprof run`: preloads the agent into the program. */
#ifndef CLI_LAUNCH_TIMER_H
#define CLI_LAUNCH_TIMER_H

#include "launch.h"
#include "run_settings.h"

/* The variables of a preloaded program.  struct launch_environment points into them. */
struct timer_variables {
  char preload[2 * PATHS_BYTES];
  char hz[16];
  char labels[INTAKE_LABELS_BYTES + 1];
  char asan[PATHS_BYTES];
  char filters[12];
  char bin_bytes[12], counter_bytes[12], last[12];
  struct launch_environment environment;
  char why[INTAKE_WHY_BYTES]; /* why there is no agent; "" if there is one */
};

/* Fills in the variables for a program of the daemon at SOCKET.  Returns 0, or -errno with the
   reason in RET->why if the agent cannot be used. */
int launch_timer_prepare(const struct run_settings *settings, const char *socket,
                         struct timer_variables *ret);

#endif
