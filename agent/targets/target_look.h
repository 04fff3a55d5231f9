/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a target's sampler still works: the last observations. */
#ifndef TARGETS_TARGET_LOOK_H
#define TARGETS_TARGET_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct target;

struct target_look {
  uint64_t looked_ns, cpu_ns,
      counted_ns;                 /* of its program's clock and its events (ladder_look.c) */
  bool has_hung_up;               /* target_has_hung_up() at the last check */
  const char *stopped;            /* the reason why it gives no more samples, or NULL */
  bool is_replaced;               /* its ring's process runs another program, as of the last step */
  uint64_t exe_device, exe_inode; /* of its ring's process at registration; 0: unknown */
  uint64_t step_ns;               /* CLOCK_MONOTONIC: the last failed step down, or 0 */
  const char *step_fault;         /* the reason of the failure, or NULL */
};

/* A perf target gives no more samples because of WHY (a constant). */
void target_stop(struct target *target, const char *why);
/* True if no task of a perf target's tree has its events any more. */
bool target_has_hung_up(const struct target *target);

#endif
