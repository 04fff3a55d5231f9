/* SPDX-License-Identifier: Apache-2.0 */
/* A pass over a histogram's counters. */
#ifndef DRAIN_HISTOGRAM_PASS_H
#define DRAIN_HISTOGRAM_PASS_H

#include "drain_parts.h"

#include "ring/histogram_books.h"

/* Puts the growth of TARGET's counters since the last shipment into the open window and the journal
   of its BOOKS. Returns the sum in the window. */
struct histogram_sum histogram_pass_run(struct drain *drain, struct target *target,
                                        const struct histogram_books *books);

/* The maximum units that all CPUs together can have spent in TARGET's processes until now. */
uint64_t histogram_pass_units_max(const struct target *target);

#endif
