/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and sandbox of a thread from /proc/PID/status. */
#ifndef PROC_PROC_STATUS_H
#define PROC_PROC_STATUS_H

#include "common/span.h"

#include <sys/types.h>

enum { PROC_FILTERS_UNKNOWN = 0xffff }; /* the kernel does not report their number */

struct proc_status {
  char state;         /* R S D Z ... */
  uint32_t uid;       /* real; UINT32_MAX: unknown */
  uint64_t blocked;   /* signal N is bit N - 1 */
  uint64_t caught;    /* of the whole process */
  uint32_t seccomp;   /* 0: none, 1: strict, 2: by filter */
  uint32_t filters;   /* their number; PROC_FILTERS_UNKNOWN */
  uint64_t queued;    /* signals queued by its user */
  uint64_t queue_max; /* and their limit */
  uint64_t sleeps;    /* voluntary context switches */
  uint64_t pushes;    /* involuntary context switches */
};

/* Parses the text of a status file.  A missing line (older kernels) leaves its field 0.  Returns 0,
   or -EBADMSG if there is no state.  Pure. */
int proc_status_parse(struct span text, struct proc_status *ret);

/* Reads that of thread TID of PID.  Returns 0 or -errno (-ENOENT, -ESRCH if it is gone). */
int proc_status_read(pid_t pid, pid_t tid, struct proc_status *ret);

#endif
