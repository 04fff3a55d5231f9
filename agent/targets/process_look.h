/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process of a timer target may be made to call the kernel now, and which of its threads
   can take a signal without noticing it. */
#ifndef TARGETS_PROCESS_LOOK_H
#define TARGETS_PROCESS_LOOK_H

#include "target.h"

#include <sys/types.h>

/* What a look at all threads showed. */
struct process_look {
  bool may_call;  /* none is in a sandbox that it was not in when TARGET registered */
  bool is_caught; /* the process has a handler for the target's signal */
  bool has_trap;  /* and one for SIGSYS: it may trap system calls by what no look shows */
  pid_t running; /* one that is said to run and does not block the signal; WANTED if it can; or 0 */
  uint64_t running_sleeps; /* how often that one has left a CPU by itself */
  pid_t on_cpu;            /* one of these that was on a CPU meanwhile, or 0 */
  uint64_t leaves;         /* how often that one had left a CPU before */
  pid_t wanted;
};

/* Looks at PID.  All false when it is gone, may_call false when it has too many threads. */
struct process_look process_look(const struct target *target, pid_t pid, pid_t wanted);

/* True when LOOK's on_cpu has not left its CPU since it was looked at, and may take the signal
   still: it is at work, and not in a system call that waits. */
bool process_look_holds(const struct target *target, pid_t pid, const struct process_look *look);

#endif
