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

struct diff_rows {
  struct view_diff_row *rows; /* those that have self weight on a side */
  uint32_t count;
  uint32_t *of_a, *of_b;           /* of each function of the tree: its row, or DIFF_ROW_NONE */
  struct function_table names;     /* each name and module once, and how many there are of it */
  struct function_table functions; /* each row's function */
  struct module_pairs pairs;
  struct module_builds builds; /* of both trees, by what their modules are called here */
};

/* Matches the functions of A and B and sums up what they hold themselves; all in ARENA.  Returns 0
   or -errno; fini in either case. */
int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena);
void diff_rows_fini(struct diff_rows *rows);

/* Sums up, into RET[rows->count], how the units of CONTRAST lie about the rows' shares a and b.
   Returns 0 or -ENOMEM. */
int diff_rows_spread(const struct diff_rows *rows, const struct contrast *contrast,
                     struct arena *arena, struct contrast_spread *ret);

#endif
