/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's call tree as a flame graph of text. */
#ifndef CLI_ANSWER_FLAME_H
#define CLI_ANSWER_FLAME_H

#include "report/top_text.h"

struct cJSON;

/* Appends ANSWER to RET, DEPTH calls deep.  ANSWER is the profile route's answer with format=tree.
   If memory runs out, RET is marked as failed. */
void answer_flame_print(const struct cJSON *answer, uint32_t depth, const struct top_text *style,
                        struct buf *ret);

#endif
