/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a process of a timer target may be made to call the kernel now. Finds a thread
   that can take a signal unnoticed. */
#ifndef TARGETS_PROCESS_LOOK_H
#define TARGETS_PROCESS_LOOK_H

#include "target.h"

#include <sys/types.h>

/* The result of a check of all threads. */
struct process_look {
  bool may_call;  /* no thread is in a sandbox that it was not in when TARGET registered */
  bool is_caught; /* the process has a handler for the target's signal */
  bool has_trap;  /* and one for SIGSYS: it may trap system calls in a way that no check shows */
  pid_t running;  /* one in state R without the signal blocked; WANTED if it qualifies; or 0
                   */
  uint64_t running_sleeps; /* its voluntary switches */
  pid_t on_cpu;            /* a thread of this kind that was on a CPU meanwhile, or 0 */
  uint64_t leaves;         /* how often that thread had left a CPU before */
  pid_t wanted;
};

/* Checks PID. All false if it is gone; may_call false if it has too many threads. */
struct process_look process_look(const struct target *target, pid_t pid, pid_t wanted);

/* True if LOOK's on_cpu has not left its CPU since the check, and can still take the signal: it is
   working, and not in a system call that waits. */
bool process_look_holds(const struct target *target, pid_t pid, const struct process_look *look);

#endif
