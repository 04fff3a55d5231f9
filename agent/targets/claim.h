/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that a ring names: the word of whoever writes it. */
#ifndef TARGETS_CLAIM_H
#define TARGETS_CLAIM_H

#include "target.h"

#include <sys/types.h>

/* One name that was looked at; all zero: none was. */
struct claim {
  pid_t pid;
  uint64_t start_ticks; /* 0: it is none of the target's */
};

/* True when PID lives, is of TARGET's user and not older than TARGET, and is still the process that
 *SEEN was when that name was first looked at. */
bool claim_stands(const struct target *target, pid_t pid, struct claim *seen);

#endif
