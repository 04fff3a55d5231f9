/* SPDX-License-Identifier: Apache-2.0 */
/* Reconstructs a difference from the collector's JSON about two selections. */
#ifndef CLI_DIFF_ANSWER_H
#define CLI_DIFF_ANSWER_H

#include "view/diff.h"

struct cJSON;

/* Reads ANSWER into RET.  Strings point into ANSWER; the caller frees the rows.  Earlier collectors
   compare shares of self, and send fewer fields: a change without fields is unclear.  Returns 0 or
   -ENOMEM.  Pure. */
int diff_answer_read(const struct cJSON *answer, struct view_diff *ret);

#endif
