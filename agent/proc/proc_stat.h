/* SPDX-License-Identifier: Apache-2.0 */
/* The few things that /proc says of a process by number. */
#ifndef PROC_PROC_STAT_H
#define PROC_PROC_STAT_H

#include "common/span.h"

#include <sys/types.h>

enum { PROC_COMM_BYTES = 16 };

struct proc_stat {
  pid_t parent;
  char state;                        /* R S D Z ... */
  uint64_t user_ticks, system_ticks; /* own, and of children that were waited for */
  uint64_t own_user_ticks, own_system_ticks;
  bool is_kernel; /* a thread of the kernel, which has no program */
  uint32_t threads;
  uint64_t start_ticks; /* since boot: tells a process from a later one of the same number */
};

/* True when nothing of the process runs any more: it waits to be reaped.  A main thread that ended
   by pthread_exit is a zombie as well, but not the last. */
static inline bool proc_stat_is_over(const struct proc_stat *stat) {
  return stat->state == 'Z' && stat->threads <= 1;
}

/* Reads the text of /proc/PID/stat.  Returns 0 or -EBADMSG.  Pure. */
int proc_stat_parse(struct span text, struct proc_stat *ret);

/* Reads PID's; returns 0 or -errno (-ENOENT, -ESRCH when it is gone). */
int proc_stat_read(pid_t pid, struct proc_stat *ret);

/* True while PID is the process that began at START_TICKS and something of it runs. */
bool proc_lives(pid_t pid, uint64_t start_ticks);

/* True while thread TID of PID exists. */
bool proc_has_thread(pid_t pid, pid_t tid);

/* Reads the name of thread TID of PID (TID may be PID).  Returns false when it is gone. */
bool proc_thread_name(pid_t pid, pid_t tid, char ret[PROC_COMM_BYTES]);

/* Reads the path of PID's program, without " (deleted)", into RET of LEN bytes. */
bool proc_exe_path(pid_t pid, char *ret, size_t len);

/* The device and the inode of PID's program; false when they cannot be read, and both are 0. */
bool proc_exe_file(pid_t pid, uint64_t *ret_device, uint64_t *ret_inode);

/* The uid that owns PID, -1 when it is gone. */
long proc_owner(pid_t pid);

/* The CPU time of all threads of PID since it was made; 0 when it is gone. */
uint64_t proc_cpu_ns(pid_t pid);

/* Writes at most MAX of the processes that PID's threads (64 at most) have started, and that live,
   to RET.  Returns their number; 0, too, on a kernel without CONFIG_PROC_CHILDREN. */
unsigned proc_children(pid_t pid, pid_t *ret, unsigned max);

/* False when PID is in another namespace NAME ("pid", "mnt") than we are.  True where the kernel
   does not tell. */
bool proc_shares_namespace(pid_t pid, const char *name);

uint64_t proc_ticks_to_ns(uint64_t ticks);

#endif
