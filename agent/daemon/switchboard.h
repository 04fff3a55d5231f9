/* SPDX-License-Identifier: Apache-2.0 */
/* Who may switch which targets: `fleetprof ctl`, and the kill-switch file. */
#ifndef DAEMON_SWITCHBOARD_H
#define DAEMON_SWITCHBOARD_H

#include "intake.h"
#include "worker.h"

/* Serves CTL: pauses, resumes, or sets the rate of every target that has the service's name (all,
   without one) and belongs to the caller (root: to anybody).  Answers how many. */
void switchboard_on_ctl(struct worker *worker, struct intake_packet *packet);

/* Looks for the kill-switch file, at most once a second, and turns every target off while there is
   one.  With every tick. */
void switchboard_look(struct worker *worker);

/* The daemon ends: every program whose ring nobody will read is told OFF. */
void switchboard_end(struct worker *worker);

/* The path of the kill-switch file that is there, or NULL. */
const char *switchboard_kill_path(const struct worker *worker);

/* The name that TARGET's own samples go under. */
const char *switchboard_service(const struct worker *worker, const struct target *target);

/* "running", "paused" or "off". */
const char *switchboard_state(const struct worker *worker, const struct target *target);

#endif
