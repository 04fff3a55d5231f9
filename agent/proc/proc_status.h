/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc/PID/status says of a thread's signals and sandbox. */
#ifndef PROC_PROC_STATUS_H
#define PROC_PROC_STATUS_H

#include "common/span.h"

#include <sys/types.h>

enum { PROC_FILTERS_UNKNOWN = 0xffff }; /* a kernel that does not count them */

struct proc_status {
  char state;         /* R S D Z ... */
  uint32_t uid;       /* real; UINT32_MAX: not said */
  uint64_t blocked;   /* signal N is bit N - 1 */
  uint64_t caught;    /* of the whole process */
  uint32_t seccomp;   /* 0: none, 1: strict, 2: by filter */
  uint32_t filters;   /* how many; PROC_FILTERS_UNKNOWN */
  uint64_t queued;    /* signals queued by its user */
  uint64_t queue_max; /* and how many there may be */
  uint64_t sleeps;    /* times that it gave up the CPU by itself */
  uint64_t pushes;    /* and that it was taken from it */
};

/* Reads the text of a status file.  A line that is missing (an older kernel) leaves its field 0.
   Returns 0, or -EBADMSG when there is no state.  Pure. */
int proc_status_parse(struct span text, struct proc_status *ret);

/* Reads that of thread TID of PID.  Returns 0 or -errno (-ENOENT, -ESRCH: it is gone). */
int proc_status_read(pid_t pid, pid_t tid, struct proc_status *ret);

#endif
