/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker read a debug file, judges what it made, and tells the store. */
#ifndef NAMES_INDEX_MAKER_H
#define NAMES_INDEX_MAKER_H

#include "debug_store.h"

struct nursery;

/* Makes the index of FILE's symbols, which takes a moment, and has its debug information wait to be
   read when it has some.  Returns 0 when the store knows what the file is, be it bad; or -errno
   when nothing was learned, because the machine or its owner stood in the way.  Any thread. */
int index_maker_make(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file);

/* Makes the index of all that FILE tells, which may take as long as NURSERY lets it.  Returns as
   above: the store knows whether the debug information is of use.  Any thread. */
int index_maker_deepen(struct debug_store *store, struct nursery *nursery,
                       const struct debug_file *file);

#endif
