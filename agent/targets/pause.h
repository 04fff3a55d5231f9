/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a rest of a target has time of a pause in it, and is marked `paused` for that. */
#ifndef TARGETS_PAUSE_H
#define TARGETS_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct target;

/* Of a timer target; all zero where nothing was ever paused. */
struct pause {
  uint64_t until_ns; /* CLOCK_BOOTTIME: the last one was over by then; 0: it is not */
  uint64_t gone_ns;  /* what processes that have ended had spent, when it began */
  uint32_t living;   /* processes that began before its end, at the last look */
  uint32_t due;      /* batches with a rest that are to be marked yet */
};

/* TARGET is paused or switched off, on purpose; is resumed. */
void pause_begin(struct target *target);
void pause_end(struct target *target);

/* Before a rest of the timer target TARGET is reported: looks who has ended.  IS_FINAL: all have.
 */
void pause_look(struct target *target, bool is_final);

/* A rest of TARGET that is reported now has time of a pause in it, or may have. */
bool pause_is_in_rest(const struct target *target);

/* A batch with such a rest was marked. */
void pause_mark(struct target *target);

#endif
