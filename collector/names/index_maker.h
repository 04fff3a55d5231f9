/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker read a debug file, judges what it made, and tells the store. */
#ifndef NAMES_INDEX_MAKER_H
#define NAMES_INDEX_MAKER_H

#include "debug_store.h"

struct nursery;

/* Makes the index of FILE.  Returns 0 when the store knows what the file is, be it bad; or -errno
   when nothing was learned, because the machine or its owner stood in the way.  Any thread. */
int index_maker_make(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file);

#endif
