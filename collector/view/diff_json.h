/* SPDX-License-Identifier: Apache-2.0 */
/* A difference as JSON: the same from the collector's API and from two files. */
#ifndef VIEW_DIFF_JSON_H
#define VIEW_DIFF_JSON_H

#include "diff.h"

struct json;

/* Writes, into an open object, what the difference of A and B rests on, how many of the COUNT ROWS
   were tested and changed, and the first LIMIT of them. */
void diff_json_write(struct json *json, const struct view_tree *a, const struct view_tree *b,
                     const struct view_diff_row *rows, uint32_t count, uint32_t limit);

#endif
