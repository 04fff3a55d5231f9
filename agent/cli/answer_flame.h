/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's call tree as a flame graph of text. */
#ifndef CLI_ANSWER_FLAME_H
#define CLI_ANSWER_FLAME_H

#include "report/top_text.h"

struct cJSON;

/* Appends ANSWER, of the route profile in its format tree, to RET, DEPTH calls deep.  Without
   memory RET says so. */
void answer_flame_print(const struct cJSON *answer, uint32_t depth, const struct top_text *style,
                        struct buf *ret);

#endif
