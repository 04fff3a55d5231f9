/* SPDX-License-Identifier: Apache-2.0 */
/* Records the CPU time of a process that exits normally. */
#ifndef PRELOAD_EXIT_TIME_H
#define PRELOAD_EXIT_TIME_H

#include "ring/ring_writer.h"

/* Once, at set-up: when the process ends by exit() or by returning from main, it then records its
   CPU time in RING, if that is safe. */
void exit_time_setup(const struct ring_writer *ring);

/* For the child of a fork: its CPU time starts at 0. */
void exit_time_in_child(void);

/* The destructor. */
void exit_time_say(void);

#endif
