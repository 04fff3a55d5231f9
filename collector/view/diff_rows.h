/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of two trees, matched by name and module (or two that are a pair: module_pairs.h),
   and by file where there are several. */
#ifndef VIEW_DIFF_ROWS_H
#define VIEW_DIFF_ROWS_H

#include "diff.h"
#include "function_table.h"
#include "module_pairs.h"

struct contrast;
struct contrast_spread;

enum { DIFF_ROW_NONE = UINT32_MAX };

/* One of the two trees. */
struct diff_side {
  uint32_t *row_of;   /* of each function: its row, or DIFF_ROW_NONE */
  bool *is_outermost; /* of each node: none above it is of its row */
  wide_sum *cut;      /* of each row: what of its total is in stacks without their callers */
};

struct diff_rows {
  struct view_diff_row *rows; /* functions that have weight on a side */
  uint32_t count;
  struct diff_side sides[2];
  struct contrast_spread *spreads[VIEW_OF_COUNT]; /* of each row */
  struct function_table names;     /* each name and module once, and how many there are of it */
  struct function_table functions; /* each row's function */
  struct module_pairs pairs;
  struct module_builds builds; /* of both trees, by what their modules are called here */
};

/* Matches the functions of A and B and sums up what they weigh; all in ARENA.  Returns 0 or -errno;
   fini in either case. */
int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena);
void diff_rows_fini(struct diff_rows *rows);

/* Adds to RET[row] the named self weight of the rows IS_COUNTED of the same module, on SIDE, in
   whose stacks the row is.  TREE is that side's.  Returns 0 or -ETIMEDOUT. */
int diff_rows_beneath(const struct diff_rows *rows, unsigned side, const struct view_tree *tree,
                      const bool *is_counted, wide_sum *ret);

/* Sums up how the units of CONTRAST lie about the rows' shares, and how neighbours in time go
   together.  Returns 0, -ENOMEM or -ETIMEDOUT. */
int diff_rows_spread(struct diff_rows *rows, struct contrast *contrast, struct arena *arena);

#endif
