/* SPDX-License-Identifier: Apache-2.0 */
/* Which targets have ended, and what is done when one has. */
#ifndef DAEMON_SWEEP_H
#define DAEMON_SWEEP_H

#include "worker.h"

/* Ends the targets whose processes are gone (perf: a moment later, FLUSH brings exact times). */
void sweep_targets(struct worker *worker);

/* True when a process of any target still runs. */
bool sweep_has_living(struct worker *worker);

/* Puts what is left of TARGET into the window, which is then closed soon (shipper.c), ships what it
   kept, forgets it here and at the keeper. */
void sweep_end_target(struct worker *worker, struct target *target);

/* Ships the recorders of the run NOTE (its serial) whose programs are gone. */
void sweep_ship_recorders(struct worker *worker, uint32_t note);

#endif
