/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how much of a perf target's CPU time without samples was spent in the kernel. */
#ifndef TARGETS_KERNEL_PART_H
#define TARGETS_KERNEL_PART_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_part {
  uint64_t base_ns;   /* counted before the account began */
  uint64_t lost_ns;   /* upper bound of the time without samples for known reasons */
  uint64_t hidden_ns; /* time without samples for unknown reasons */
  uint64_t kernel_ns; /* time in the kernel; never falls */
  bool is_blind;      /* since then events were stopped, or records lost */
};

/* Begins an account, after COUNTED_NS were counted. */
void kernel_part_begin(struct kernel_part *part, uint64_t counted_ns);

struct kernel_look {
  uint64_t counted_ns; /* CPU time of the tree, from its events, without proven stolen time */
  uint64_t sampled_ns; /* weight of its samples since the account began */
  uint64_t held_ns;    /* upper bound of the time that may yet become samples */
  bool is_blind;       /* some of its events do not work now */
  uint64_t stolen_ns;  /* upper bound of likely stolen time in it */
};

/* Returns the kernel time of the account, as far as no other cause can have hidden it. Pure. */
uint64_t kernel_part_look(struct kernel_part *part, const struct kernel_look *look);

#endif
