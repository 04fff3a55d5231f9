/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that a signal of an interval timer stands for, by the exact clock of its process. */
#ifndef TARGETS_PROCESS_CLOCK_H
#define TARGETS_PROCESS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct target;
struct process;

/* For a process, from its first record on. */
struct process_clock {
  uint64_t first_ns;    /* clock value before there could be records */
  uint64_t expected_ns; /* of records not taken yet */
  uint64_t booked_ns;   /* of records taken */
  double worth;         /* factor of a record's weight; 0 to 1 */
  bool is_known;        /* the clock could be read */
};

/* Before the records of TARGET are taken: announces WEIGHT_NS more of PROCESS. */
void process_clock_expect(struct process *process, uint64_t weight_ns);

/* After all announcements: computes the scale of PROCESS's records. TICK_NS: the kernel's tick. */
void process_clock_settle(const struct target *target, struct process *process, uint64_t tick_ns);

/* The scaled weight of a record of WEIGHT_NS of PROCESS, which is booked. */
uint64_t process_clock_take(struct target *target, struct process *process, uint64_t weight_ns);

#endif
