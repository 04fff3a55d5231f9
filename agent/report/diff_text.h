/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a difference of two profiles as text and as JSON. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "top_text.h"
#include "view/diff.h"

struct json;

struct diff_sides {
  const struct view_tree *a, *b; /* of a collector's difference only their sums */
  const char *a_name, *b_name;
  const char *pair;  /* the program's two file names, shown as one, or NULL */
  bool is_by_letter; /* the columns are called a and b, whatever the names of the sides */
};

/* Appends DIFF of SIDES as a signed table to RET.  Returns 0 or -ENOMEM. */
int diff_text_print(const struct diff_sides *sides, const struct view_diff *diff,
                    const struct top_text *style, struct buf *ret);

/* Writes the same as members of the object that is open in RET, in the format of GET
   /api/v1/diff. */
void diff_text_write_json(const struct diff_sides *sides, const struct view_diff *diff,
                          uint32_t limit, struct json *ret);

/* Appends the measure that the verdicts of DIFF refer to: "CPU of totals per run", "share of
   self". */
void diff_text_print_measure(const struct view_diff *diff, struct buf *ret);

#endif
