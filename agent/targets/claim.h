/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the processes that a ring claims, which are untrusted data. */
#ifndef TARGETS_CLAIM_H
#define TARGETS_CLAIM_H

#include "target.h"

#include <sys/types.h>

/* A checked claim; all zero: none was checked. */
struct claim {
  pid_t pid;
  uint64_t start_ticks; /* 0: it does not belong to the target */
};

/* True if PID lives, has TARGET's user, is not older than TARGET, and is still the process that it
   was when *SEEN first recorded it. */
bool claim_stands(const struct target *target, pid_t pid, struct claim *seen);

#endif
