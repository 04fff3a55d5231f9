/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that no board can name, and those already requested from other servers. */
#ifndef NAMES_DEBUG_UPSTREAM_H
#define NAMES_DEBUG_UPSTREAM_H

#include "debug_store.h"

/* Finds a module without names that was not recently requested from other servers. Its boards must
   have no better file. Only build-ids: the hash of a file without one is meaningless to others.
   Returns 0, -ENOENT if there is none now, or -errno. Any thread. */
int debug_upstream_next(struct debug_store *store, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                        size_t *ret_len);

/* Records a request to other servers for module ID; it is not repeated for PAUSE_S. Any thread. */
int debug_upstream_note(struct debug_store *store, struct span id, int64_t pause_s);

#endif
