/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a process that registers again because it has executed another program. */
#ifndef DAEMON_BEFORE_EXEC_H
#define DAEMON_BEFORE_EXEC_H

#include <stdint.h>
#include <sys/types.h>

struct worker;

/* Ends the registration of PID before its exec, if any, and charges its CPU time so far to it.
   Returns the CPU time, in ns, that the new program is not charged for. */
uint64_t before_exec_end(struct worker *worker, pid_t pid);

#endif
