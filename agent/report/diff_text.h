/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of two profiles, as people and as scripts read it. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "top_text.h"
#include "view/diff.h"

struct diff_sides {
  const struct view_tree *a, *b;
  const char *a_name, *b_name; /* of the files; for the text */
  const char *pair;            /* of two file names of the program, shown as one, or NULL */
};

/* A difference that somebody else has made. */
struct diff_table {
  struct diff_sides sides; /* of the trees their sums alone */
  struct view_diff_basis basis;
  const struct view_diff_row *rows;
  uint32_t count, tested; /* how many of them were compared */
};

/* Appends TABLE, its sides called a and b, to RET.  Returns 0 or -ENOMEM. */
int diff_text_print_table(const struct diff_table *table, const struct top_text *style,
                          struct buf *ret);

/* Appends the signed table of SIDES to RET.  Returns 0 or -ENOMEM. */
int diff_text_print(const struct diff_sides *sides, const struct top_text *style,
                    struct arena *arena, struct buf *ret);

/* The same as JSON, in the shape of GET /api/v1/diff.  Returns 0 or -ENOMEM. */
int diff_text_print_json(const struct diff_sides *sides, uint32_t limit, struct arena *arena,
                         struct buf *ret);

#endif
