/* SPDX-License-Identifier: Apache-2.0 */
/* Rows added up by node; those of one node that weigh unlike stay apart (batch_is_alike). */
#ifndef STORE_ROW_SUMS_H
#define STORE_ROW_SUMS_H

#include "store_read.h"

/* All-zero is empty. */
struct row_sums {
  struct store_row *by_node; /* count and weight 0: none */
  uint32_t node_room, last_node;
  uint32_t *nodes; /* that have any */
  size_t node_count, nodes_room;
  struct store_row *unlike; /* beside what by_node has of their nodes */
  size_t unlike_count, unlike_room;
  struct store_row *taken;
  size_t taken_room;
};

void row_sums_fini(struct row_sums *sums);

/* Adds ROW, or COUNT of them.  Returns 0 or -ENOMEM. */
int row_sums_add(struct row_sums *sums, const struct store_row *row);
int row_sums_add_all(struct row_sums *sums, const struct store_row *rows, size_t count);

/* Empties SUMS into RET, ordered by node, which is valid until the next call.  Returns 0 or
   -ENOMEM. */
int row_sums_take(struct row_sums *sums, struct store_row **ret, size_t *ret_count);

enum { ROW_SUMS_RESTS = 65 };

/* Sums of rows that are merged into rows of NODE; those that weigh unlike stay apart.  Without sums
   it is empty. */
struct row_rest {
  uint32_t node;
  struct store_row sums[ROW_SUMS_RESTS];
};

/* Adds ROW, which has samples.  A sum that would exceed SUM_MAX with it is put behind COUNT ROWS,
   and another begins.  Returns how many ROWS there are then: never more, with those of
   row_rest_take, than were added. */
size_t row_rest_add(struct row_rest *rest, const struct store_row *row, struct store_row *rows,
                    size_t count);

/* Puts the sums of REST behind COUNT ROWS.  Returns how many there are then. */
size_t row_rest_take(const struct row_rest *rest, struct store_row *rows, size_t count);

/* Leaves the KEPT heaviest of COUNT sampled ROWS in their order and replaces the others by sums:
   rows of NODE, between and behind the former, none beyond SUM_MAX and those that weigh unlike
   apart.  Rows without samples are few, and are left.  Returns how many rows there are. */
size_t row_sums_cut(struct store_row *rows, size_t count, size_t kept, uint32_t node);

/* Sorts ROWS by node and adds up those of one node that weigh alike; SPARE has room for COUNT.
   Returns how many are left. */
size_t row_sums_merge(struct store_row *rows, struct store_row *spare, size_t count);

#endif
