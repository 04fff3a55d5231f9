/* SPDX-License-Identifier: Apache-2.0 */
/* A difference as JSON: the same from the collector's API and from two files. */
#ifndef VIEW_DIFF_JSON_H
#define VIEW_DIFF_JSON_H

#include "diff.h"

struct json;

/* Writes, into an open object, what DIFF rests on, its whole, how many of its functions were tested
   and changed, and the first LIMIT of them. */
void diff_json_write(struct json *json, const struct view_diff *diff, uint32_t limit);

#endif
