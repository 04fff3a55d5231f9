/* SPDX-License-Identifier: Apache-2.0 */
/* A process registers again: it runs another program than before. */
#ifndef DAEMON_BEFORE_EXEC_H
#define DAEMON_BEFORE_EXEC_H

#include <stdint.h>
#include <sys/types.h>

struct worker;

/* Ends what PID was part of until now, if anything, and bills its CPU time so far to that.  Returns
   the CPU time that the new program need not answer for, in ns. */
uint64_t before_exec_end(struct worker *worker, pid_t pid);

#endif
