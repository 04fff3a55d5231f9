/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a histogram's counters. */
#ifndef DRAIN_HISTOGRAM_PASS_H
#define DRAIN_HISTOGRAM_PASS_H

#include "drain_parts.h"

#include "ring/histogram_books.h"

/* Puts what TARGET's counters have grown by since they were shipped last into the open window and
   into the journal of its BOOKS.  Returns what is in the window. */
struct histogram_sum histogram_pass_run(struct drain *drain, struct target *target,
                                        const struct histogram_books *books);

/* The units that all CPUs together can have spent in TARGET's processes until now. */
uint64_t histogram_pass_units_max(const struct target *target);

#endif
