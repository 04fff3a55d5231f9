/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time that perf events count and the kernel bills to no process: steal time of a hypervisor,
   and interrupts where the kernel accounts for them separately. */
#ifndef TARGETS_STEAL_TIME_H
#define TARGETS_STEAL_TIME_H

#include "proc/proc_board.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEAL_TIME_LIKELY_TIMES = 2 /* a target loses at most so many times its even part */ };

struct steal_time {
  struct proc_board board; /* at the last look, or when the target began */
  uint64_t counted_ns;     /* at the last look */
  uint64_t likely_ns;      /* the target's part of the board's steal time, if it is even */
  int64_t base_ns;         /* counted less billed when the account began */
  bool has_no_base;        /* the next look sets it: earlier time is not part of the account */
  uint64_t stolen_ns;      /* counted and not billed; never falls */
  uint64_t paid_ns;        /* of stolen_ns: left out of the weights of samples */
  bool is_open;            /* open_ns was read, the clocks not yet */
  uint64_t open_ns;        /* counted */
  uint64_t due_ns;         /* CLOCK_MONOTONIC: no look before */
};

struct steal_look {
  uint64_t counted_ns; /* by the target's events; read before the clocks */
  uint64_t billed_ns;  /* by the kernel, to all processes of the target, or more */
  bool is_partial;     /* billed_ns lacks processes: it says nothing */
  struct proc_board board;
};

/* Raises stolen_ns to what LOOK proves.  Pure. */
void steal_time_look(struct steal_time *steal, const struct steal_look *look);

/* Of what the board has lost, the target's likely part that no look has proved yet. */
uint64_t steal_time_unproved_ns(const struct steal_time *steal);

/* Of what was counted since the last look, COUNTED_NS in all, the part that is stolen if as much is
   stolen as before. */
uint64_t steal_time_expected_ns(const struct steal_time *steal, uint64_t counted_ns);

struct steal_sample {
  uint64_t weight_ns;
  uint64_t over_ns;     /* with it, all that is shown comes to so much more than the bill */
  uint64_t expected_ns; /* stolen since the last look, as above */
  uint64_t part_ns;     /* weights are multiples of this */
};
/* Returns the weight of SAMPLE after it has paid.  At least one part is left.  Pure. */
uint64_t steal_time_pay(struct steal_time *steal, const struct steal_sample *sample);

#endif
