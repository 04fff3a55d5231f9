/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's end in order: by TERM, by the keeper's end, or when there is nothing more to do. */
#ifndef DAEMON_ENDING_H
#define DAEMON_ENDING_H

#include "worker.h"

/* Tells every program by timer to delete its timers, and has the loop tick at once.  No more than
   ENDING_MS_MAX later the worker goes.  Once more is nothing. */
void ending_begin(struct worker *worker);

/* With every tick from then on.  True when the worker is to go. */
bool ending_step(struct worker *worker);

enum { ENDING_MS_MAX = 4000 }; /* of the 8 s that the keeper waits */

#endif
