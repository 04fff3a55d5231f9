/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the CPU time that a perf target's samples do not show was spent in the kernel. */
#ifndef TARGETS_KERNEL_PART_H
#define TARGETS_KERNEL_PART_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_part {
  uint64_t base_ns;   /* counted before the account began */
  uint64_t lost_ns;   /* at most so much has no sample for a reason that is known */
  uint64_t hidden_ns; /* has none, for an unknown reason */
  uint64_t kernel_ns; /* was in the kernel; never falls */
  bool is_blind;      /* since then events were stopped, or records were lost */
};

/* Begins an account: COUNTED_NS was there before. */
void kernel_part_begin(struct kernel_part *part, uint64_t counted_ns);

struct kernel_look {
  uint64_t counted_ns; /* CPU time of the tree, by its events, without what is proved stolen */
  uint64_t sampled_ns; /* weight of its samples since the account began */
  uint64_t held_ns;    /* at most so much may yet become samples */
  bool is_blind;       /* its events do not all work now */
  uint64_t stolen_ns;  /* at most so much of it is likely stolen all the same */
};

/* Returns what of the account was kernel time, as far as nothing else can have hidden it.  Pure. */
uint64_t kernel_part_look(struct kernel_part *part, const struct kernel_look *look);

#endif
