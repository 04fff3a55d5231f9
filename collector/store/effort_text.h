/* SPDX-License-Identifier: Apache-2.0 */
/* What a board said of the cost of sampling, as one text of `name=value` lines: new figures need no
   new column, and an SQLite shell shows them. */
#ifndef STORE_EFFORT_TEXT_H
#define STORE_EFFORT_TEXT_H

#include "proto/payloads.h"

struct buf;

/* Appends EFFORT to RET. */
void effort_text_encode(const struct effort *effort, struct buf *ret);

/* Reads TEXT, cutting it up in place: RET's strings point into it.  Unknown names are skipped, what
   is missing is zero or empty. */
void effort_text_decode(char *text, struct effort *ret);

#endif
