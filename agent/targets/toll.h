/* SPDX-License-Identifier: Apache-2.0 */
/* What one target may cost the daemon: a bucket of CPU time that leaks at TOLL_SHARE_PERCENT of one
   CPU.  Whoever has filled it waits; what it has to say waits in its own ring.  */
#ifndef TARGETS_TOLL_H
#define TARGETS_TOLL_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TOLL_SHARE_PERCENT = 20,  /* of one CPU, in the long run */
  TOLL_BURST_MS = 400,      /* a start (libraries to be read) may cost more at once */
  TOLL_TURN_MS = 20,        /* of a drain */
  TOLL_FIRST_TURN_MS = 200, /* of a registration */
  TOLL_LAST_MS = 200,       /* of the drain that an account is closed after */
  TOLL_LAST_ALL_MS = 2000,  /* of all these together */
};

/* All zero: nothing was spent yet. */
struct toll {
  uint64_t debt_ns;           /* CPU time that has not leaked away yet */
  uint64_t leaked_ns;         /* CLOCK_MONOTONIC: when it last leaked */
  uint64_t begun_ns, turn_ns; /* the daemon's CPU time at the turn's beginning; how long it is */
};

/* Begins a turn of TURN_MS.  Returns false when it has to wait. */
bool toll_begin(struct toll *toll, unsigned turn_ms);
/* Begins one that cannot wait, whatever is owed. */
void toll_begin_last(struct toll *toll, unsigned turn_ms);
/* The turn is used up: whoever can stop stops. */
bool toll_is_over(const struct toll *toll);
/* Books the turn.  Returns what it took. */
uint64_t toll_end(struct toll *toll);

/* The same at given times: pure. */
bool toll_may_pass(struct toll *toll, uint64_t now_ns);
/* What has leaked away by NOW_NS, at SHARE_PERCENT of one CPU, is no longer owed. */
void toll_leak(struct toll *toll, uint64_t now_ns, unsigned share_percent);

#endif
