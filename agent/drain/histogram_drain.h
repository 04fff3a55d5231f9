/* SPDX-License-Identifier: Apache-2.0 */
/* Ships the growth of a histogram's counters. */
#ifndef DRAIN_HISTOGRAM_DRAIN_H
#define DRAIN_HISTOGRAM_DRAIN_H

#include "drain_parts.h"

/* Takes what TARGET's counters have grown by since the last pass; passes are a second apart unless
   IS_LAST.  Returns the records taken. */
uint64_t histogram_drain_run(struct drain *drain, struct target *target, bool is_last);

/* Finishes the pending drain that ends in SERIAL.  Returns false when TARGET knows of none such. */
bool histogram_drain_recover(const struct target *target, uint64_t serial);

struct histogram_totals;
/* What TARGET's handler says of its samples so far; a stranger's word. */
void histogram_drain_totals(const struct target *target, struct histogram_totals *ret);

/* Writes what is wrong with TARGET's counters, empty when nothing is. */
void histogram_drain_explain(const struct target *target, char *why, size_t len);

#endif
