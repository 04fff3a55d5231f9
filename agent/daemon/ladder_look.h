/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a perf target still works. */
#ifndef DAEMON_LADDER_LOOK_H
#define DAEMON_LADDER_LOOK_H

#include <stdint.h>

struct target;

/* Checks a perf TARGET at NOW (CLOCK_MONOTONIC).  Returns NULL while it works or it is too early to
   decide; else why it gives no samples, which its state reports from then on. */
const char *ladder_look(struct target *target, uint64_t now);

#endif
