/* SPDX-License-Identifier: Apache-2.0 */
/* What looking up addresses has found, for /metrics.  Any thread. */
#ifndef NAMES_LOOKUP_COUNTS_H
#define NAMES_LOOKUP_COUNTS_H

#include "debug_store.h"

struct buf;

/* An address in a file of code was looked up; QUALITY: of the file that named it, DEBUG_NONE: none.
   A translator that named it (IS_TRANSLATED) is told of by that alone. */
void lookup_counts_add(enum debug_quality quality, bool is_translated);

void lookup_counts_print(struct buf *ret);

#endif
