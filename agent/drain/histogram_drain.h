/* SPDX-License-Identifier: Apache-2.0 */
/* Ships the growth of a histogram's counters when a window closes. */
#ifndef DRAIN_HISTOGRAM_DRAIN_H
#define DRAIN_HISTOGRAM_DRAIN_H

#include "drain_parts.h"

#include "ring/histogram_books.h"

/* Updates TARGET's figures and mappings, once a second. IS_WHOLE: at once, and also puts the growth
   of its counters into the open window, to wait there for its end. Returns the number of new
   records. */
uint64_t histogram_drain_run(struct drain *drain, struct target *target, bool is_whole);

/* The part of TARGET's counters that is in no batch yet, and since when (CLOCK_BOOTTIME). */
uint64_t histogram_drain_unshipped(const struct target *target, uint64_t *ret_since_ns);

/* The open window becomes NOTE's batch. Returns the waiting records of all targets, which are not
   accounted for yet, and lowers SINCE_NS to the beginning of their time. */
uint64_t histogram_drain_seal(struct drain *drain, struct histogram_note note, uint64_t *since_ns);
/* The batch was spooled if IS_SHIPPED; otherwise its content is only in the counters. */
void histogram_drain_settle(struct drain *drain, bool is_shipped);

/* The batch in which a dead worker was about to ship TARGET's counters, if any. recover: completes
   that, depending on IS_SHIPPED. */
struct histogram_note histogram_drain_note(const struct target *target);
void histogram_drain_recover(struct target *target, bool is_shipped);

struct histogram_totals;
/* The totals of TARGET's handler so far; untrusted. */
void histogram_drain_totals(const struct target *target, struct histogram_totals *ret);

/* True if TARGET's handler found counters full. */
bool histogram_drain_is_full(const struct target *target);

/* Writes the fault of TARGET's counters; empty if there is none. */
void histogram_drain_explain(const struct target *target, char *why, size_t len);

#endif
