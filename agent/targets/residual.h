/* SPDX-License-Identifier: Apache-2.0 */
/* The exact rest of a perf target. The kernel counts the CPU time of the whole tree to the
   nanosecond; the part without samples is reported as [kernel] and [unsampled]. */
#ifndef TARGETS_RESIDUAL_H
#define TARGETS_RESIDUAL_H

#include "kernel_part.h"
#include "steal_time.h"

struct residual {
  uint64_t total_ns;          /* CPU time that the kernel bills to the tree, as far as known */
  uint64_t counted_ns;        /* by its events, including stolen time */
  uint64_t most_ns;           /* maximum of counted_ns: an event may fail */
  uint64_t heard_ns;          /* lower bound from clocks; never falls */
  uint64_t ended_ns;          /* counted: of ended tasks */
  uint64_t spread_ns;         /* the part of total - kept that was given to ended processes */
  uint64_t kernel_ns;         /* the part in the kernel, as far as known; never falls */
  uint64_t sampled_ns;        /* weight of the samples taken since base */
  uint64_t sampled_kernel_ns; /* the part in the kernel */
  uint64_t base_total_ns, base_kernel_ns; /* already reported (or lost) by an earlier worker */
  uint64_t reported_kernel_ns, reported_rest_ns;
  /* Parts of total: the time of other targets within the tree, and of those the gone ones. */
  uint64_t elsewhere_ns, left_ns, left_kernel_ns;
  bool has_forked; /* processes, not threads */
  bool is_fresh;   /* total was read after records were copied from the rings (perf_drain.c) */
  struct kernel_part kernel; /* if the events are more accurate than the clocks */
  struct steal_time steal;
};

struct residual_step {
  uint64_t kernel_ns, rest_ns; /* to report now */
};

/* The claim of one process of the tree. */
struct residual_claim {
  uint64_t wanted_ns;
  bool is_kernel_known; /* else it gets the average share of kernel time of all time due */
  uint64_t kernel_ns;
};

/* The events of the tree have counted NS, or clocks bill at least NS: updates the total. */
void residual_count(struct residual *residual, uint64_t ns);
void residual_hear(struct residual *residual, uint64_t ns);
/* Takes LOOK, a reading of the clocks, and updates the total. */
void residual_look(struct residual *residual, const struct steal_look *look);
/* Returns the weight of a sample that stands for WEIGHT_NS. It is less, in whole parts of PART_NS,
   if stolen time has made samples, clocks and kernel time exceed the total. Pure. */
uint64_t residual_pay(struct residual *residual, uint64_t weight_ns, uint64_t part_ns);

/* CPU time counted by the events, without stolen time. */
uint64_t residual_kept_ns(const struct residual *residual);
/* The part of the total that the target reports itself. */
uint64_t residual_own_ns(const struct residual *residual);

/* The part of that without sample or report so far. */
uint64_t residual_due_ns(const struct residual *residual);

/* Marks everything up to now as reported. */
void residual_rebase(struct residual *residual);

/* The time to report now, if HELD_NS of it may yet turn into samples. Marks it as reported.
   Pure. */
void residual_next(struct residual *residual, uint64_t held_ns, struct residual_step *ret);

/* The time that can be reported now under the name of one process: as much as CLAIM requests, but
   never more than is due of the tree. Marks it as reported. Pure. */
void residual_bill(struct residual *residual, const struct residual_claim *claim,
                   struct residual_step *ret);

#endif
