/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts a batch's samples by series, without I/O. */
#ifndef STORE_SERIES_ROWS_H
#define STORE_SERIES_ROWS_H

#include "store_read.h"

struct arena;

/* The board's part of a series' labels. */
struct series_board {
  const char *name, *arch, *kernel;
  uint32_t label_count;
  const struct label *labels;
};

struct series_rows {
  const char *labels; /* label_text; equal texts denote one series */
  uint32_t type;
  uint32_t count;
  uint32_t marks;         /* of all its targets */
  struct store_row *rows; /* node: index into the batch's nodes; may repeat */
};

/* Sorts BATCH of BOARD into one entry for each (series, type), in ARENA.  Returns 0 or -ENOMEM. */
int series_rows_make(const struct series_board *board, const struct batch *batch,
                     struct arena *arena, struct series_rows **ret, uint32_t *ret_count);

#endif
