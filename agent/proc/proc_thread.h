/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's CPU time, and which threads of a process have a timer. */
#ifndef PROC_PROC_THREAD_H
#define PROC_PROC_THREAD_H

#include "common/span.h"

#include <stdbool.h>
#include <sys/types.h>

enum { PROC_TIMERS_MAX = 1024 /* threads with a timer kept per process */ };

struct proc_schedstat {
  uint64_t cpu_ns, wait_ns;
  uint64_t turns; /* number of times it was put on a CPU */
};

/* Parses the text of /proc/PID/task/TID/schedstat.  Returns 0, or -EBADMSG if it is malformed or
   the kernel does not maintain it (all zero).  Pure. */
int proc_schedstat_parse(struct span text, struct proc_schedstat *ret);
/* Reads that of thread TID of PID.  Returns 0 or -errno (-ENOENT, -ESRCH if it is gone). */
int proc_schedstat_read(pid_t pid, pid_t tid, struct proc_schedstat *ret);

/* CPU time of thread TID of PID.  The resolution is 1 ns if the kernel maintains schedstat, else
   its clock tick.  Returns 0 or -errno (-ENOENT, -ESRCH if it is gone). */
int proc_thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *ret_ns);

/* The threads that timers of a given signal notify. */
struct proc_timers {
  bool is_known; /* false: not supported, not permitted, or too many */
  uint32_t count;
  pid_t tids[PROC_TIMERS_MAX];
};

/* Parses the text of /proc/PID/timers.  An incomplete last line is ignored.  Pure. */
void proc_timers_parse(struct span text, int signal, struct proc_timers *ret);
void proc_timers_read(pid_t pid, int signal, struct proc_timers *ret);
bool proc_timers_has(const struct proc_timers *timers, pid_t tid);

#endif
