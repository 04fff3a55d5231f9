/* SPDX-License-Identifier: Apache-2.0 */
/* A target's quota of the daemon's CPU time: a leaky bucket that leaks at TOLL_SHARE_PERCENT of one
   CPU. A target that has filled it waits, and its records wait in its own ring. */
#ifndef TARGETS_TOLL_H
#define TARGETS_TOLL_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TOLL_SHARE_PERCENT = 20,  /* of one CPU, in the long run */
  TOLL_BURST_MS = 400,      /* a start (libraries to read) may cost more at once */
  TOLL_TURN_MS = 20,        /* of a drain */
  TOLL_FIRST_TURN_MS = 200, /* of a registration */
  TOLL_LAST_MS = 200,       /* of the last drain before an account is closed */
  TOLL_LAST_ALL_MS = 2000,  /* of all these together */
};

/* All zero: nothing spent yet. */
struct toll {
  uint64_t debt_ns;           /* CPU time that has not leaked away yet */
  uint64_t leaked_ns;         /* CLOCK_MONOTONIC: time of the last leak */
  uint64_t begun_ns, turn_ns; /* the daemon's CPU time when the turn began; its length */
};

/* Begins a turn of TURN_MS. Returns false if it must wait. */
bool toll_begin(struct toll *toll, unsigned turn_ms);
/* Begins a turn that cannot wait, regardless of the debt. */
void toll_begin_last(struct toll *toll, unsigned turn_ms);
/* True if the turn is used up: work that can stop must stop. */
bool toll_is_over(const struct toll *toll);
/* Charges the turn. Returns its CPU time. */
uint64_t toll_end(struct toll *toll);

/* The same for given times: pure. */
bool toll_may_pass(struct toll *toll, uint64_t now_ns);
/* Reduces the debt by the leak up to NOW_NS, at SHARE_PERCENT of one CPU. */
void toll_leak(struct toll *toll, uint64_t now_ns, unsigned share_percent);

#endif
