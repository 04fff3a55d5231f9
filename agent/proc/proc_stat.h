/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a process from /proc/PID. */
#ifndef PROC_PROC_STAT_H
#define PROC_PROC_STAT_H

#include "common/span.h"

#include <sys/types.h>

enum { PROC_COMM_BYTES = 16 };

struct proc_stat {
  pid_t parent;
  char state;                        /* R S D Z ... */
  uint64_t user_ticks, system_ticks; /* own, and of waited-for children */
  uint64_t own_user_ticks, own_system_ticks;
  bool is_kernel; /* a kernel thread, which has no program */
  uint32_t threads;
  uint64_t start_ticks; /* since boot: distinguishes a process from a later one with the same pid */
};

/* True if all threads have ended and the process waits to be reaped.  A main thread that ended by
   pthread_exit is a zombie as well, but not the last thread. */
static inline bool proc_stat_is_over(const struct proc_stat *stat) {
  return stat->state == 'Z' && stat->threads <= 1;
}

/* Parses the text of /proc/PID/stat.  Returns 0 or -EBADMSG.  Pure. */
int proc_stat_parse(struct span text, struct proc_stat *ret);

/* Reads that of PID.  Returns 0 or -errno (-ENOENT, -ESRCH if it is gone). */
int proc_stat_read(pid_t pid, struct proc_stat *ret);

/* True while PID is the process that began at START_TICKS and has a running thread. */
bool proc_lives(pid_t pid, uint64_t start_ticks);

/* True while thread TID of PID exists. */
bool proc_has_thread(pid_t pid, pid_t tid);

/* Reads the name of thread TID of PID (TID may be PID).  Returns false if it is gone. */
bool proc_thread_name(pid_t pid, pid_t tid, char ret[PROC_COMM_BYTES]);

/* Reads the path of PID's program, without " (deleted)", into RET of LEN bytes.  Returns false on
   failure. */
bool proc_exe_path(pid_t pid, char *ret, size_t len);

/* The device and the inode of PID's program.  Returns false with both 0 if they cannot be read. */
bool proc_exe_file(pid_t pid, uint64_t *ret_device, uint64_t *ret_inode);

/* The uid of PID's owner; -1 if it is gone. */
long proc_owner(pid_t pid);

/* The CPU time of all threads of PID since its start; 0 if it is gone. */
uint64_t proc_cpu_ns(pid_t pid);

/* Writes at most MAX live children of PID's threads (at most 64 threads) to RET.  Returns their
   number; 0 also on a kernel without CONFIG_PROC_CHILDREN. */
unsigned proc_children(pid_t pid, pid_t *ret, unsigned max);

/* False if PID is in another namespace NAME ("pid", "mnt").  True if it cannot be determined. */
bool proc_shares_namespace(pid_t pid, const char *name);

uint64_t proc_ticks_to_ns(uint64_t ticks);

#endif
