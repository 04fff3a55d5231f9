/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's parts, built and joined. */
#ifndef DAEMON_PIPELINE_H
#define DAEMON_PIPELINE_H

#include "worker.h"

/* Targets, drain, window, spool, shipper: out of what the keeper holds and what lies on the disk,
   with the books of dead daemons closed.  Returns 0, or -errno with the reason in the log. */
int pipeline_open(struct worker *worker);

/* Connects to the board's collector, as soon as it has one.  Returns 0 or -errno. */
int pipeline_start_uplink(struct worker *worker);
/* A board may be enrolled, or enrolled elsewhere, while its daemon runs. */
void pipeline_follow_collector(struct worker *worker);

/* Lets the events on the whole board count: the last step of a start. */
void pipeline_start_board(struct worker *worker);

#endif
