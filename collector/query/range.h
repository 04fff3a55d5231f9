/* SPDX-License-Identifier: Apache-2.0 */
/* What a range selects, and what was lost in it. */
#ifndef QUERY_RANGE_H
#define QUERY_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct query_range;
struct store;
struct store_series;

/* Returns whether RANGE selects SERIES. */
bool range_wants(const struct query_range *range, const struct store_series *series);

/* Adds, into LOSS[LOSS_REASON_COUNT], the records that the boards which RANGE can mean lost in it.
   Returns 0, -ETIMEDOUT or -errno. */
int range_loss(struct store *store, const struct query_range *range, uint64_t *loss);

#endif
