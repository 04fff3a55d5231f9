/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the collector's JSON as text. */
#ifndef CLI_ANSWER_TEXT_H
#define CLI_ANSWER_TEXT_H

#include "report/top_text.h"

struct cJSON;

/* Parses the LEN bytes of TEXT and makes every string in it safe for a terminal.  Returns the
   document, which the caller frees by cJSON_Delete, or NULL. */
struct cJSON *answer_text_parse(const void *text, size_t len);

/* NUMBER without its fraction, clamped to the range of uint64_t. */
uint64_t answer_text_whole(double number);

/* Reads the totals of ANSWER into RET: weight, sample count and effective samples. */
void answer_text_sums(const struct cJSON *answer, struct view_tree *ret);

/* Appends the totals of ANSWER, its losses, and how stacks ended. */
void answer_text_head(const struct cJSON *answer, struct buf *ret);

/* Append the answer of one route to RET: profile (format=top), load, callers, callees, function,
   and series.  Fields that are missing in ANSWER are left out. */
void answer_text_top(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_load(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_callers(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_callees(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_function(const struct cJSON *answer, const struct top_text *style,
                          struct buf *ret);
void answer_text_series(const struct cJSON *answer, const struct top_text *style, struct buf *ret);

#endif
