/* SPDX-License-Identifier: Apache-2.0 */
/* The perf sampler of `fleetprof run`: events opened on the program before its exec. */
#ifndef CLI_LAUNCH_PERF_H
#define CLI_LAUNCH_PERF_H

#include "sampling_choice.h"

/* Opens the events and passes them to the daemon.  Returns 0, or -errno with the reason and the
   remedy in CHOICE->why; -ETIMEDOUT if the daemon did not answer by the deadline. */
int launch_perf(struct sampling_choice *choice);

#endif
