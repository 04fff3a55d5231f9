/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and connects the worker's parts. */
#ifndef DAEMON_PIPELINE_H
#define DAEMON_PIPELINE_H

#include "worker.h"

/* Opens targets, drain, window, spool and shipper, from the supervisor's state and the disk, and
   closes the accounting of earlier daemons.  Returns 0, or -errno with the reason in the log. */
int pipeline_open(struct worker *worker);

/* Connects to the board's collector, as soon as there is one.  Returns 0 or -errno. */
int pipeline_start_uplink(struct worker *worker);
/* A board may be enrolled, or enrolled elsewhere, while its daemon runs: follows the change. */
void pipeline_follow_collector(struct worker *worker);

/* Enables the events on the whole board: the last step of a start. */
void pipeline_start_board(struct worker *worker);

#endif
