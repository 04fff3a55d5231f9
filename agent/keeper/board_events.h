/* SPDX-License-Identifier: Apache-2.0 */
/* The events of `fleetprofd --system`. */
#ifndef KEEPER_BOARD_EVENTS_H
#define KEEPER_BOARD_EVENTS_H

#include "hold.h"
#include "settings.h"

#include "perf/perf_ring.h"

/* Supervisor: opens an event on each CPU of RINGS according to SETTINGS, disabled, for all
   processes.  Redirects each into its CPU's ring, and adds them to HELD as a target of kind
   HOLD_BOARD.  Returns 0, or -errno with a line for the user in ERROR. */
int board_events_open(const struct perf_rings *rings, const struct settings *settings,
                      struct hold_table *held, char *error, size_t error_len);

/* Worker: enables the events; running events are unchanged. */
void board_events_start(const int *fds, unsigned count);

#endif
