/* SPDX-License-Identifier: Apache-2.0 */
/* The events of `fleetprofd --system`. */
#ifndef KEEPER_BOARD_EVENTS_H
#define KEEPER_BOARD_EVENTS_H

#include "hold.h"
#include "settings.h"

#include "perf/perf_ring.h"

/* Keeper: opens an event, as SETTINGS says, that waits on all that runs on each CPU of RINGS, sends
   it into that CPU's ring, and puts the whole into HELD as a target of kind HOLD_BOARD.  Returns 0,
   or -errno with a line for the user in ERROR. */
int board_events_open(const struct perf_rings *rings, const struct settings *settings,
                      struct hold_table *held, char *error, size_t error_len);

/* Worker: lets them go; of events that run already nothing changes. */
void board_events_start(const int *fds, unsigned count);

#endif
