/* SPDX-License-Identifier: Apache-2.0 */
/* Finds targets that have ended, and removes them. */
#ifndef DAEMON_SWEEP_H
#define DAEMON_SWEEP_H

#include "worker.h"

/* Ends the targets without live processes (perf: a moment later, because FLUSH brings exact
   times). */
void sweep_targets(struct worker *worker);

/* True if a process of any target still runs. */
bool sweep_has_living(struct worker *worker);

/* Puts the remaining data of TARGET into the window, which is then closed soon (shipper.c).  Ships
   the contents of its ring, and forgets it here and in the supervisor. */
void sweep_end_target(struct worker *worker, struct target *target);

/* Ships the recorders of the run NOTE (its serial) with ended programs. */
void sweep_ship_recorders(struct worker *worker, uint32_t note);

#endif
