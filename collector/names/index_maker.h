/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker read a debug file, checks the result, and records it in the store. */
#ifndef NAMES_INDEX_MAKER_H
#define NAMES_INDEX_MAKER_H

#include "debug_store.h"

struct nursery;

/* Makes the index of FILE's symbols, which is quick, and queues its debug information, if any.
   Returns 0 if the store has recorded a result, even DEBUG_BAD; or -errno if a fault of this
   machine prevented one. Any thread. */
int index_maker_make(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file);

/* Makes the full index of FILE, which may take as long as NURSERY allows. Returns as above; the
   store has recorded whether the debug information is usable. Any thread. */
int index_maker_deepen(struct debug_store *store, struct nursery *nursery,
                       const struct debug_file *file);

#endif
