/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread allocates while it does one thing, and the most that it may: a program whose
   allocations are counted (collector/metered) refuses what is beyond.  Elsewhere a meter stands at
   zero.  Each thread has its own. */
#ifndef COMMON_METER_H
#define COMMON_METER_H

#include <stdbool.h>
#include <stddef.h>

/* What is asked for in less than so many bytes is counted and never refused, so that a thread which
   has used up what it may have can still say so.  What grows gets larger than that. */
enum { METER_SMALL_BYTES = 16 << 10 };

/* This thread may have LIMIT_BYTES (not 0) more than it has now. */
void meter_start(size_t limit_bytes);

/* Ends that.  Returns the most that it had at once. */
size_t meter_stop(void);

/* Whether this thread was refused anything since it started: what it made may lack a part that
   nobody else misses. */
bool meter_was_refused(void);

/* ---- for what allocates ---- */

bool meter_is_running(void);

/* Returns whether BYTES more are within the limit; where not, they count as refused. */
bool meter_has_room(size_t bytes);

/* Counts BYTES that were allocated, or (below 0) freed, whoever allocated them. */
void meter_count(ptrdiff_t bytes);

#endif
