/* SPDX-License-Identifier: Apache-2.0 */
/* The last word of a process that ends in order: the CPU time that it spent. */
#ifndef PRELOAD_EXIT_TIME_H
#define PRELOAD_EXIT_TIME_H

#include "ring/ring_writer.h"

/* Once, at set-up: from here on the process says in RING what it spent, when it ends by exit() or
   by returning from main, and when that cannot hurt it. */
void exit_time_setup(const struct ring_writer *ring);

/* In the child of a fork: it has spent nothing yet. */
void exit_time_in_child(void);

/* The destructor. */
void exit_time_say(void);

#endif
