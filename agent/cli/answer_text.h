/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's JSON as people read it. */
#ifndef CLI_ANSWER_TEXT_H
#define CLI_ANSWER_TEXT_H

#include "report/top_text.h"

struct cJSON;

/* Parses the LEN bytes of TEXT, with every string in it clean for a terminal.  Returns the
   document, the caller's to free by cJSON_Delete, or NULL. */
struct cJSON *answer_text_parse(const void *text, size_t len);

/* NUMBER without its fraction; what fits no uint64_t is the nearest that does. */
uint64_t answer_text_whole(double number);

/* Reads into RET the sums that an answer begins with: weight, count, what they are worth. */
void answer_text_sums(const struct cJSON *answer, struct view_tree *ret);

/* Appends to RET how much ANSWER tells of, what was lost of it, and how stacks ended. */
void answer_text_head(const struct cJSON *answer, struct buf *ret);

/* Append the answer of one route to RET: of profile (format=top), load, callers or callees,
   function, and series.  Whatever is missing in ANSWER is left out. */
void answer_text_top(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_load(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_callers(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_callees(const struct cJSON *answer, const struct top_text *style, struct buf *ret);
void answer_text_function(const struct cJSON *answer, const struct top_text *style,
                          struct buf *ret);
void answer_text_series(const struct cJSON *answer, const struct top_text *style, struct buf *ret);

#endif
