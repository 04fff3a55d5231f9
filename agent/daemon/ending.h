/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's orderly shutdown: on TERM, at the supervisor's end, or when there is no more
   work. */
#ifndef DAEMON_ENDING_H
#define DAEMON_ENDING_H

#include "worker.h"

/* Sets every timer target to OFF, so that it deletes its timers, and makes the loop tick at once.
   After ENDING_MS_MAX neither a program nor the collector is waited for; a pending read of rings or
   write to disk is completed first.  Repeated calls have no effect. */
void ending_begin(struct worker *worker);

/* Call at every tick from then on.  True if the worker should exit. */
bool ending_step(struct worker *worker);

/* Milliseconds until the next tick. */
long ending_tick_ms(const struct worker *worker);

/* The last window is closed and the counters are final. */
bool ending_has_closed_books(const struct worker *worker);

enum { ENDING_MS_MAX = 7000 }; /* of the 8 s that the supervisor waits */

#endif
