/* SPDX-License-Identifier: Apache-2.0 */
/* What a signal of an interval timer stands for, by the exact clock of the process it came from. */
#ifndef TARGETS_PROCESS_CLOCK_H
#define TARGETS_PROCESS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct target;
struct process;

/* Of one process, from the first of its records on. */
struct process_clock {
  uint64_t first_ns;    /* what it showed before there could be records */
  uint64_t expected_ns; /* of records that are not taken yet */
  uint64_t booked_ns;   /* of those that were */
  double worth;         /* of a record's weight; 0 to 1 */
  bool is_known;        /* it could be read */
};

/* Before the records of TARGET are taken: WEIGHT_NS more of them are there of PROCESS. */
void process_clock_expect(struct process *process, uint64_t weight_ns);

/* When all were expected: what each of PROCESS's records is worth.  TICK_NS: of the kernel. */
void process_clock_settle(const struct target *target, struct process *process, uint64_t tick_ns);

/* The worth of a record of WEIGHT_NS of PROCESS, which is booked. */
uint64_t process_clock_take(struct target *target, struct process *process, uint64_t weight_ns);

#endif
