/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of two trees, matched by name and module (or by two modules that are a pair:
   module_pairs.h), and by file if several share a name. */
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
  bool *is_outermost; /* of each node: no node above it has its row */
  wide_sum *cut;      /* of each row: the part of its total in stacks without their callers */
};

struct diff_rows {
  struct view_diff_row *rows; /* functions with weight on a side */
  uint32_t count;
  struct diff_side sides[2];
  struct contrast_spread *spreads[VIEW_OF_COUNT]; /* of each row */
  struct function_table names;     /* each name and module once, and how many functions share it */
  struct function_table functions; /* each row's function */
  struct module_pairs pairs;
  struct module_builds builds; /* of both trees, under the rows' module names */
};

/* Matches the functions of A and B and sums their weights; all in ARENA. Returns 0 or -errno;
   call fini in either case. */
int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena);
void diff_rows_fini(struct diff_rows *rows);

/* Adds to RET[row] the named self weight, on SIDE, of rows IS_COUNTED of the same module in
   whose stacks the row is. TREE is that side's. Returns 0 or -ETIMEDOUT. */
int diff_rows_beneath(const struct diff_rows *rows, unsigned side, const struct view_tree *tree,
                      const bool *is_counted, wide_sum *ret);

/* Sums how the units of CONTRAST deviate from the rows' shares, and the correlation of
   neighbours in time. Returns 0, -ENOMEM or -ETIMEDOUT. */
int diff_rows_spread(struct diff_rows *rows, struct contrast *contrast, struct arena *arena);

#endif
