/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time that perf events count and the kernel bills to no process: steal time of a hypervisor,
   and interrupts if the kernel accounts for them separately. */
#ifndef TARGETS_STEAL_TIME_H
#define TARGETS_STEAL_TIME_H

#include "proc/proc_board.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEAL_TIME_LIKELY_TIMES = 2 /* limit of a loss, as a multiple of the even share */ };

struct steal_time {
  struct proc_board board; /* at the last reading, or when the target began */
  uint64_t counted_ns;     /* at the last reading */
  uint64_t likely_ns;      /* the target's even share of the board's steal time */
  int64_t base_ns;         /* counted minus billed when the account began */
  bool has_no_base;        /* the next reading sets it: earlier time is not part of the account */
  uint64_t stolen_ns;      /* counted but not billed; never falls */
  uint64_t paid_ns;        /* part of stolen_ns left out of the weights of samples */
  bool is_open;            /* open_ns was read, but not the clocks yet */
  uint64_t open_ns;        /* counted */
  uint64_t due_ns;         /* CLOCK_MONOTONIC: earliest next reading */
};

struct steal_look {
  uint64_t counted_ns; /* by the target's events; read before the clocks */
  uint64_t billed_ns;  /* by the kernel, to all processes of the target, or more */
  bool is_partial;     /* billed_ns lacks processes and is unusable */
  struct proc_board board;
};

/* Raises stolen_ns to the amount that LOOK proves. Pure. */
void steal_time_look(struct steal_time *steal, const struct steal_look *look);

/* The target's likely share of the board's loss that no reading has proved yet. */
uint64_t steal_time_unproved_ns(const struct steal_time *steal);

/* The expected stolen part of the time counted since the last reading, at the previous ratio.
   COUNTED_NS is the whole count. */
uint64_t steal_time_expected_ns(const struct steal_time *steal, uint64_t counted_ns);

struct steal_sample {
  uint64_t weight_ns;
  uint64_t over_ns;     /* excess of all reported time, including it, over the billed time */
  uint64_t expected_ns; /* stolen since the last reading, as above */
  uint64_t part_ns;     /* weights are multiples of this */
};
/* Returns the weight of SAMPLE after it has paid, at least one part. Pure. */
uint64_t steal_time_pay(struct steal_time *steal, const struct steal_sample *sample);

#endif
