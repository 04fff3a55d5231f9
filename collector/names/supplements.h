/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information that debug files refer to, and the supplements of each file. Only operators'
   supplements count, since a supplement affects all names of the file, for all boards. Any
   thread. */
#ifndef NAMES_SUPPLEMENTS_H
#define NAMES_SUPPLEMENTS_H

#include "debug_store.h"

/* Records that the file SHA256 refers to the supplement ID, by .gnu_debugaltlink. Returns 0 or
   -errno. */
int supplements_note(struct debug_store *store, const uint8_t sha256[32], struct span id);

/* Records that a worker found the file SHA256 to be a supplement. Without a build-id it belongs to
   the module that it was sent for. Files that refer to it are queued to be read again. Returns 0 or
   -errno. */
int supplements_add(struct debug_store *store, const uint8_t sha256[32], struct span build_id);

/* Opens at most MAX supplements of the file SHA256 for reading, into FDS, which the caller closes.
   Returns their number or -errno. */
int supplements_open(struct debug_store *store, const uint8_t sha256[32], int *fds, unsigned max);

#endif
