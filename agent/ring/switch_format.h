/* SPDX-License-Identifier: Apache-2.0 */
/* How a running target is told to pause, to go on, or to use another rate.

   The daemon stores control and period_ns in the ring's header and raises `serial`.  A process
   meets the change at its next sample; one that has no timers is woken by a nudge: the daemon
   queues the ring's signal, with nudge_token as its value, to one of its threads.

   To obey takes system calls, which may be death in a sandbox.  So a process that meets a change
   asks; the daemon looks whether any of its threads has entered a sandbox since it registered, and
   permits; what is not used by the next look is taken back. */
#ifndef RING_SWITCH_FORMAT_H
#define RING_SWITCH_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

enum { RING_PROCESSES_MAX = 64 };

/* PAUSE deletes the timers and OFF does it for good. */
enum ring_control { RING_RUN = 0, RING_PAUSE = 1, RING_OFF = 2 };

/* Why a process samples no more. */
enum ring_left {
  RING_LEFT_NOT = 0,
  RING_LEFT_SIGNAL = 1,  /* the program uses the signal itself */
  RING_LEFT_CRAMPED = 2, /* frames have become larger than one of its stacks has room for */
};

/* A process that is told of changes: the registered one and each forked child.  Entered by the
   process as it begins, or where all rows are taken at the first change that it meets; freed by the
   daemon once it is gone. */
struct ring_process {
  _Atomic uint64_t who;      /* pid << 32 | permitted serial; 0: free */
  _Atomic uint32_t asked;    /* the serial that it has met */
  _Atomic uint32_t seen;     /* the serial that it has obeyed */
  _Atomic uint32_t armed;    /* threads that have a timer since then */
  _Atomic uint32_t has_left; /* enum ring_left */
};

#endif
