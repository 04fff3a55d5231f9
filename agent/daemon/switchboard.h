/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling control: `fleetprof ctl`, and the kill-switch file. */
#ifndef DAEMON_SWITCHBOARD_H
#define DAEMON_SWITCHBOARD_H

#include "intake.h"
#include "worker.h"

/* Serves CTL: pauses, resumes, or sets the rate of every target with the service's name (all,
   without a name) that belongs to the caller (for root: to any user).  Answers the number of
   targets. */
void switchboard_on_ctl(struct worker *worker, struct intake_packet *packet);

/* Checks the kill-switch file, at most once a second, and turns every target off while it is there.
   Call at every tick. */
void switchboard_look(struct worker *worker);

/* At the daemon's shutdown: sets every program to OFF if its ring will not be read. */
void switchboard_end(struct worker *worker);

/* The path of the kill-switch file in effect, or NULL. */
const char *switchboard_kill_path(const struct worker *worker);

/* The service name of TARGET's own samples. */
const char *switchboard_service(const struct worker *worker, const struct target *target);

/* "running", "paused" or "off". */
const char *switchboard_state(const struct worker *worker, const struct target *target);

#endif
