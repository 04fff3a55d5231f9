/* SPDX-License-Identifier: Apache-2.0 */
/* Ships the growth of a histogram's counters, as a window closes. */
#ifndef DRAIN_HISTOGRAM_DRAIN_H
#define DRAIN_HISTOGRAM_DRAIN_H

#include "drain_parts.h"

#include "ring/histogram_books.h"

/* Follows TARGET's figures and mappings, a second apart; IS_WHOLE: at once, and puts what its
   counters have grown by into the open window, to wait there for its end.  Returns the records that
   are new. */
uint64_t histogram_drain_run(struct drain *drain, struct target *target, bool is_whole);

/* What of TARGET's counters is in no batch yet, and since when (CLOCK_BOOTTIME) it has come. */
uint64_t histogram_drain_unshipped(const struct target *target, uint64_t *ret_since_ns);

/* The open window becomes NOTE's batch.  Returns the records that waited for that, of all targets,
   which the books do not know yet; lowers SINCE_NS to the time that they begin at. */
uint64_t histogram_drain_seal(struct drain *drain, struct histogram_note note, uint64_t *since_ns);
/* The batch is in the spool, or not: then what was in it is in the counters only. */
void histogram_drain_settle(struct drain *drain, bool is_shipped);

/* The batch that a dead worker was about to ship TARGET's counters in, if any; and what became of
   it. */
struct histogram_note histogram_drain_note(const struct target *target);
void histogram_drain_recover(struct target *target, bool is_shipped);

struct histogram_totals;
/* What TARGET's handler says of its samples so far; a stranger's word. */
void histogram_drain_totals(const struct target *target, struct histogram_totals *ret);

/* Whether TARGET's handler found counters full. */
bool histogram_drain_is_full(const struct target *target);

/* Writes what is wrong with TARGET's counters, empty when nothing is. */
void histogram_drain_explain(const struct target *target, char *why, size_t len);

#endif
