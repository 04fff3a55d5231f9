/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's end in order: by TERM, by the keeper's end, or when there is nothing more to do. */
#ifndef DAEMON_ENDING_H
#define DAEMON_ENDING_H

#include "worker.h"

/* Tells every program by timer to delete its timers, and has the loop tick at once.  After
   ENDING_MS_MAX nobody is waited for any more, neither a program nor the collector; what is being
   read from rings or written to disk then is ended first.  Once more is nothing. */
void ending_begin(struct worker *worker);

/* With every tick from then on.  True when the worker is to go. */
bool ending_step(struct worker *worker);

/* Until the next one. */
long ending_tick_ms(const struct worker *worker);

/* The last window is closed and the books are told as final: nothing comes into them any more. */
bool ending_has_closed_books(const struct worker *worker);

enum { ENDING_MS_MAX = 7000 }; /* of the 8 s that the keeper waits */

#endif
