/* SPDX-License-Identifier: Apache-2.0 */
/* Labels as one canonical text: `name=value` lines ordered by name. Equal label sets have equal
   texts, so the text is the key of a series. It is readable in an SQLite shell. */
#ifndef STORE_LABEL_TEXT_H
#define STORE_LABEL_TEXT_H

#include "proto/batch.h"

#include <stddef.h>

struct buf;

/* Appends LABELS, which are in name order, to RET. */
void label_text_encode(const struct label *labels, size_t count, struct buf *ret);

/* Splits TEXT in place into at most MAX labels that point into it.  Returns 0 or -EBADMSG. */
int label_text_decode(char *text, struct label *labels, uint32_t max, uint32_t *ret_count);

#endif
