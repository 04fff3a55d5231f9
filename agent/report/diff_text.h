/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of two profiles, as people and as scripts read it. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "top_text.h"

struct diff_sides {
  const struct view_tree *a, *b;
  const char *a_name, *b_name; /* of the files; for the text */
  const char *pair;            /* of two file names of the program, shown as one, or NULL */
};

/* Appends the signed table of SIDES to RET.  Returns 0 or -ENOMEM. */
int diff_text_print(const struct diff_sides *sides, const struct top_text *style,
                    struct arena *arena, struct buf *ret);

/* The same as JSON, in the shape of GET /api/v1/diff.  Returns 0 or -ENOMEM. */
int diff_text_print_json(const struct diff_sides *sides, uint32_t limit, struct arena *arena,
                         struct buf *ret);

#endif
