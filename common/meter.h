/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and limits a thread's allocations during one task. In a program that counts its
   allocations (collector/metered) those above the limit fail. Elsewhere a meter stays at zero. Each
   thread has its own. */
#ifndef COMMON_METER_H
#define COMMON_METER_H

#include <stdbool.h>
#include <stddef.h>

/* Smaller requests are counted but never refused, so that a thread at its limit can still report
   it. Growing arrays soon exceed this size. */
enum { METER_SMALL_BYTES = 16 << 10 };

/* Lets this thread allocate LIMIT_BYTES (not 0) more than it has now. */
void meter_start(size_t limit_bytes);

/* Stops the meter. Returns the maximum allocated at once. */
size_t meter_stop(void);

/* True if an allocation of this thread was refused since the start: its result may lack a part
   without any other sign. */
bool meter_was_refused(void);

/* ---- for the allocator ---- */

bool meter_is_running(void);

/* True if BYTES more are within the limit; otherwise counts a refusal. */
bool meter_has_room(size_t bytes);

/* Counts BYTES that were allocated, or (below 0) freed, by any thread. */
void meter_count(ptrdiff_t bytes);

#endif
