/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that no board can name, and which of them somebody else was asked for. */
#ifndef NAMES_DEBUG_UPSTREAM_H
#define NAMES_DEBUG_UPSTREAM_H

#include "debug_store.h"

/* Finds a module whose boards have all they can give and that has no names, and for which nobody
   else was asked of late.  Only build-ids: a hash of a file without one means nothing to others.
   Returns 0, -ENOENT when there is none now, or -errno.  Any thread. */
int debug_upstream_next(struct debug_store *store, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                        size_t *ret_len);

/* Notes that others were asked for module ID; they are not asked again for PAUSE_S.  Any thread. */
int debug_upstream_note(struct debug_store *store, struct span id, int64_t pause_s);

#endif
