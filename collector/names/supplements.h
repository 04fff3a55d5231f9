/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information that debug files refer to: which supplements belong to which file.  Only what
   an operator has sent counts, since a supplement names whatever the file names, for everybody. Any
   thread. */
#ifndef NAMES_SUPPLEMENTS_H
#define NAMES_SUPPLEMENTS_H

#include "debug_store.h"

/* The file SHA256 refers to the supplement ID, by .gnu_debugaltlink.  Returns 0 or -errno. */
int supplements_note(struct debug_store *store, const uint8_t sha256[32], struct span id);

/* A worker has found that the file SHA256 is a supplement, with a build-id of its own or none: then
   it is the module's that it was sent for.  The debug information of files that it belongs to waits
   to be read again.  Returns 0 or -errno. */
int supplements_add(struct debug_store *store, const uint8_t sha256[32], struct span build_id);

/* Opens the supplements of the file SHA256 for reading, MAX at most, into FDS, the caller's to
   close.  Returns their number or -errno. */
int supplements_open(struct debug_store *store, const uint8_t sha256[32], int *fds, unsigned max);

#endif
