/* SPDX-License-Identifier: Apache-2.0 */
/* The exact rest of a perf target: the kernel knows the CPU time of the whole tree to the
   nanosecond; what its samples do not show is reported as [kernel] and [unsampled]. */
#ifndef TARGETS_RESIDUAL_H
#define TARGETS_RESIDUAL_H

#include "kernel_part.h"
#include "steal_time.h"

struct residual {
  uint64_t total_ns;          /* CPU time that the kernel bills to the tree, as far as known */
  uint64_t counted_ns;        /* by its events, stolen time included */
  uint64_t most_ns;           /* that counted_ns ever was: an event may go bad */
  uint64_t heard_ns;          /* by clocks, at least; never falls */
  uint64_t ended_ns;          /* counted: of tasks that have ended */
  uint64_t spread_ns;         /* of total - kept what was given to ended processes */
  uint64_t kernel_ns;         /* of that in the kernel, as far as known; never falls */
  uint64_t sampled_ns;        /* weight of the samples taken since base */
  uint64_t sampled_kernel_ns; /* of that in the kernel */
  uint64_t base_total_ns, base_kernel_ns; /* what a dead worker had (or lost) already */
  uint64_t reported_kernel_ns, reported_rest_ns;
  /* Of total: what targets of their own within the tree answer for; of that those that are gone. */
  uint64_t elsewhere_ns, left_ns, left_kernel_ns;
  bool has_forked; /* processes, not threads */
  bool is_fresh;   /* total was read since records were copied out of the rings (perf_drain.c) */
  struct kernel_part kernel; /* where the events know better than the clocks */
  struct steal_time steal;
};

struct residual_step {
  uint64_t kernel_ns, rest_ns; /* to be reported now */
};

/* What one process of the tree is to answer for. */
struct residual_claim {
  uint64_t wanted_ns;
  bool is_kernel_known; /* else it gets the share of kernel time that all that is due has */
  uint64_t kernel_ns;
};

/* The events of the tree have counted NS, or clocks bill NS at least: sets the total anew. */
void residual_count(struct residual *residual, uint64_t ns);
void residual_hear(struct residual *residual, uint64_t ns);
/* Takes LOOK at the clocks; the total follows. */
void residual_look(struct residual *residual, const struct steal_look *look);
/* Returns the weight of a sample that stands for WEIGHT_NS: less, in whole parts of PART_NS, where
   stolen time has made samples, clocks and kernel time more than the total.  Pure. */
uint64_t residual_pay(struct residual *residual, uint64_t weight_ns, uint64_t part_ns);

/* CPU time that the events have counted, less stolen time. */
uint64_t residual_kept_ns(const struct residual *residual);
/* Of the total what the target answers for itself. */
uint64_t residual_own_ns(const struct residual *residual);

/* Of that what neither a sample nor a report has shown yet. */
uint64_t residual_due_ns(const struct residual *residual);

/* Everything up to now counts as reported. */
void residual_rebase(struct residual *residual);

/* What has to be reported now, when HELD_NS of it may yet turn into samples.  Books it as
   reported.  Pure. */
void residual_next(struct residual *residual, uint64_t held_ns, struct residual_step *ret);

/* What can be reported now under the name of one process: as much as is CLAIMed, never more than
   is due of the tree.  Books it as reported.  Pure. */
void residual_bill(struct residual *residual, const struct residual_claim *claim,
                   struct residual_step *ret);

#endif
