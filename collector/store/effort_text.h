/* SPDX-License-Identifier: Apache-2.0 */
/* A board's report of the cost of sampling, as a text of `name=value` lines. New figures need no
   new column, and an SQLite shell shows them. */
#ifndef STORE_EFFORT_TEXT_H
#define STORE_EFFORT_TEXT_H

#include "proto/payloads.h"

struct buf;

/* Appends EFFORT to RET. */
void effort_text_encode(const struct effort *effort, struct buf *ret);

/* Parses TEXT in place; RET's strings point into it. Unknown names are skipped; missing figures are
   zero or empty. */
void effort_text_decode(char *text, struct effort *ret);

#endif
