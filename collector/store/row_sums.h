/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of rows by node. Rows of one node with different weights stay separate (batch_is_alike). */
#ifndef STORE_ROW_SUMS_H
#define STORE_ROW_SUMS_H

#include "store_read.h"

/* All-zero is empty. */
struct row_sums {
  struct store_row *by_node; /* count and weight 0: no rows */
  uint32_t node_room, last_node;
  uint32_t *nodes; /* nodes with rows */
  size_t node_count, nodes_room;
  struct store_row *unlike; /* rows of another weight than their node's in by_node */
  size_t unlike_count, unlike_room;
  struct store_row *taken;
  size_t taken_room;
};

void row_sums_fini(struct row_sums *sums);

/* Add ROW, or COUNT of ROWS. Return 0 or -ENOMEM. */
int row_sums_add(struct row_sums *sums, const struct store_row *row);
int row_sums_add_all(struct row_sums *sums, const struct store_row *rows, size_t count);

/* Moves the rows to RET, ordered by node, and empties SUMS. RET is valid until the next call.
   Returns 0 or -ENOMEM. */
int row_sums_take(struct row_sums *sums, struct store_row **ret, size_t *ret_count);

enum { ROW_SUMS_RESTS = 65 };

/* Sums of rows merged into rows of NODE; different weights stay separate. Zero sums are empty. */
struct row_rest {
  uint32_t node;
  struct store_row sums[ROW_SUMS_RESTS];
};

/* Adds ROW, which has samples. If a sum would exceed SUM_MAX, it is appended to the COUNT ROWS and
   a new one begun. Returns the new number of ROWS. Together with row_rest_take it appends at most
   as many rows as were added. */
size_t row_rest_add(struct row_rest *rest, const struct store_row *row, struct store_row *rows,
                    size_t count);

/* Appends the sums of REST to the COUNT ROWS. Returns the new number. */
size_t row_rest_take(const struct row_rest *rest, struct store_row *rows, size_t count);

/* Keeps the KEPT heaviest of COUNT sampled ROWS, in their order, and replaces the others by sums:
   rows of NODE, between and behind the kept rows. No sum exceeds SUM_MAX, and different weights
   stay separate. Rows without samples, which are few, are kept. Returns the number of rows left. */
size_t row_sums_cut(struct store_row *rows, size_t count, size_t kept, uint32_t node);

/* Sorts ROWS by node and adds up rows of one node with similar weights. SPARE has room for COUNT.
   Returns the number of rows left. */
size_t row_sums_merge(struct store_row *rows, struct store_row *spare, size_t count);

#endif
