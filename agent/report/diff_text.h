/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of two profiles, as people and as scripts read it. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "top_text.h"
#include "view/diff.h"

struct json;

struct diff_sides {
  const struct view_tree *a, *b; /* of a collector's difference their sums alone */
  const char *a_name, *b_name;
  const char *pair;  /* of two file names of the program, shown as one, or NULL */
  bool is_by_letter; /* the columns are called a and b, whatever the sides' names */
};

/* Appends DIFF of SIDES as a signed table to RET.  Returns 0 or -ENOMEM. */
int diff_text_print(const struct diff_sides *sides, const struct view_diff *diff,
                    const struct top_text *style, struct buf *ret);

/* Writes the same as members of the object that is open in RET, in the shape of GET /api/v1/diff.
 */
void diff_text_write_json(const struct diff_sides *sides, const struct view_diff *diff,
                          uint32_t limit, struct json *ret);

/* What verdicts of DIFF are about, as words: "CPU of totals per run", "share of self". */
void diff_text_print_measure(const struct view_diff *diff, struct buf *ret);

#endif
