/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a difference as JSON, the same for the collector's API and for two files. */
#ifndef VIEW_DIFF_JSON_H
#define VIEW_DIFF_JSON_H

#include "diff.h"

struct json;

/* Writes to an open object the basis of DIFF, its whole, the number of tested and changed
   functions, and the first LIMIT of them. */
void diff_json_write(struct json *json, const struct view_diff *diff, uint32_t limit);

#endif
