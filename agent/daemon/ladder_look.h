/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a perf target still does what it is there for. */
#ifndef DAEMON_LADDER_LOOK_H
#define DAEMON_LADDER_LOOK_H

#include <stdint.h>

struct target;

/* Looks at a perf TARGET at NOW (CLOCK_MONOTONIC).  Returns NULL while all is well or it is too
   early to say; else why it gives no samples, which its state says from then on. */
const char *ladder_look(struct target *target, uint64_t now);

#endif
