/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a target's sampler still does what it is there for: what was last seen of that. */
#ifndef TARGETS_TARGET_LOOK_H
#define TARGETS_TARGET_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct target;

struct target_look {
  uint64_t looked_ns, cpu_ns,
      counted_ns;                 /* of its program's clock and its events (ladder_look.c) */
  bool has_hung_up;               /* target_has_hung_up() at the last look */
  const char *stopped;            /* why it gives no samples any more, or NULL */
  bool is_replaced;               /* its ring's process runs another program, as of the last step */
  uint64_t exe_device, exe_inode; /* of its ring's process when it registered; 0: not known */
  uint64_t step_ns;               /* CLOCK_MONOTONIC: of the last step down that failed, or 0 */
  const char *step_fault;         /* why it failed, or NULL */
};

/* A perf target gives no samples any more, because of WHY (a constant). */
void target_stop(struct target *target, const char *why);
/* True when no task of a perf target's tree has its events any more. */
bool target_has_hung_up(const struct target *target);

#endif
