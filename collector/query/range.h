/* SPDX-License-Identifier: Apache-2.0 */
/* The series that a range selects, and the losses in it. */
#ifndef QUERY_RANGE_H
#define QUERY_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct query_range;
struct store;
struct store_series;

/* Returns whether RANGE selects SERIES. */
bool range_wants(const struct query_range *range, const struct store_series *series);

/* Adds, into LOSS[LOSS_REASON_COUNT], the records lost in RANGE by the boards that it can
   select. Returns 0, -ETIMEDOUT or -errno. */
int range_loss(struct store *store, const struct query_range *range, uint64_t *loss);

#endif
