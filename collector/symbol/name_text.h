/* SPDX-License-Identifier: Apache-2.0 */
/* Makes names from untrusted files safe for pages, terminals and JSON. */
#ifndef SYMBOL_NAME_TEXT_H
#define SYMBOL_NAME_TEXT_H

#include "common/span.h"

struct buf;

/* Whether TEXT is valid UTF-8 without control characters and without marks that change the
   direction of text. Any thread. */
bool name_text_is_clean(struct span text);

/* Appends RAW and a NUL to RET, with '?' for each byte that is not clean. Longer names are cut to
   LIMIT bytes and end in "...". Any thread. */
void name_text_append(struct span raw, size_t limit, struct buf *ret);

#endif
