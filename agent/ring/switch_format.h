/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol by which the daemon pauses a running target, resumes it, or changes its rate.

   The daemon stores control and period_ns in the ring's header and increments `serial`. A process
   sees the change at its next sample. A process without a timer is woken by a nudge: the daemon
   queues the ring's signal, with nudge_token as its value, to one of its threads.

   Applying a change takes system calls, which may be fatal in a sandbox. So a process that sees a
   change requests permission. The daemon checks whether any of its threads has entered a sandbox
   since it registered, and permits. A permission that is not used by the next check is revoked. */
#ifndef RING_SWITCH_FORMAT_H
#define RING_SWITCH_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

enum { RING_PROCESSES_MAX = 64 };

/* PAUSE deletes the timers; OFF does so for good. */
enum ring_control { RING_RUN = 0, RING_PAUSE = 1, RING_OFF = 2 };

/* Why a process has left sampling. */
enum ring_left {
  RING_LEFT_NOT = 0,
  RING_LEFT_SIGNAL = 1,  /* the program uses the signal itself */
  RING_LEFT_CRAMPED = 2, /* larger frames no longer fit one of its stacks */
};

/* A process that applies changes: the registered process, or one of its forked children. The
   process adds its row when it begins, or, if all rows are taken, at the first change that it sees.
   The daemon frees the row once the process is gone. */
struct ring_process {
  _Atomic uint64_t who;      /* pid << 32 | permitted serial; 0: free */
  _Atomic uint32_t asked;    /* the serial for which it has requested permission */
  _Atomic uint32_t seen;     /* the serial that it has applied */
  _Atomic uint32_t armed;    /* threads with a timer, as of then */
  _Atomic uint32_t has_left; /* enum ring_left */
};

#endif
