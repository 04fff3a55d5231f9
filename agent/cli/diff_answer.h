/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's JSON about two selections as the difference that it was written from. */
#ifndef CLI_DIFF_ANSWER_H
#define CLI_DIFF_ANSWER_H

#include "view/diff.h"

struct cJSON;

/* Reads ANSWER into RET.  The texts are ANSWER's; the caller frees the rows.  An earlier collector
   compares shares of self, and sends fewer fields: changes without fields are unclear.  Returns 0
   or -ENOMEM.  Pure. */
int diff_answer_read(const struct cJSON *answer, struct view_diff *ret);

#endif
