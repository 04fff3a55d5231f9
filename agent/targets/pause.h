/* SPDX-License-Identifier: Apache-2.0 */
/* Determines whether a rest of a target contains time of a pause, and is marked `paused`. */
#ifndef TARGETS_PAUSE_H
#define TARGETS_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct target;

/* For a timer target; all zero if nothing was ever paused. */
struct pause {
  uint64_t until_ns; /* CLOCK_BOOTTIME: end of the last pause; 0: it lasts */
  uint64_t gone_ns;  /* CPU time of ended processes when it began */
  uint32_t living;   /* processes begun before its end, at the last check */
  uint32_t due;      /* batches with a rest still to be marked */
};

/* TARGET is paused or switched off on purpose; it is resumed. */
void pause_begin(struct target *target);
void pause_end(struct target *target);

/* Before a rest of the timer target TARGET is reported: checks which processes have ended.
   IS_FINAL: all have. */
void pause_look(struct target *target, bool is_final);

/* True if a rest of TARGET that is reported now contains time of a pause, or may contain it. */
bool pause_is_in_rest(const struct target *target);

/* A batch with a rest of that kind was marked. */
void pause_mark(struct target *target);

#endif
