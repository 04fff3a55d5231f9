/* SPDX-License-Identifier: Apache-2.0 */
/* Names from strangers' files, made fit for pages, terminals and JSON. */
#ifndef SYMBOL_NAME_TEXT_H
#define SYMBOL_NAME_TEXT_H

#include "common/span.h"

struct buf;

/* Whether TEXT is valid UTF-8 without control characters and without the marks that turn the
   direction of writing.  Any thread. */
bool name_text_is_clean(struct span text);

/* Appends RAW and a NUL to RET, each byte that is not clean as '?', cut to LIMIT bytes with "..."
   as its end when longer.  Any thread. */
void name_text_append(struct span raw, size_t limit, struct buf *ret);

#endif
