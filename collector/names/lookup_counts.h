/* SPDX-License-Identifier: Apache-2.0 */
/* Results of address lookups, for /metrics. Any thread. */
#ifndef NAMES_LOOKUP_COUNTS_H
#define NAMES_LOOKUP_COUNTS_H

#include "debug_store.h"

struct buf;

/* Counts a lookup of an address in a file of code. QUALITY: of the file that named it, DEBUG_NONE:
   none. If a translator named it (IS_TRANSLATED), only that is counted. */
void lookup_counts_add(enum debug_quality quality, bool is_translated);

void lookup_counts_print(struct buf *ret);

#endif
