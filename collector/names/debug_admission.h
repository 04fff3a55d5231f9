/* SPDX-License-Identifier: Apache-2.0 */
/* What may come into the debug store, and how a whole upload becomes a file.  One thread at a
   time, but for the first, which is pure. */
#ifndef NAMES_DEBUG_ADMISSION_H
#define NAMES_DEBUG_ADMISSION_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

struct debug_why {
  char *text;
  size_t len;
};

/* Checks PIECE's fields against limits and each other.  Returns 0, -EBADMSG, -EOVERFLOW. */
int debug_admission_check(const struct debug_piece *piece, struct debug_why why);

/* Before the first byte of an upload: was this file refused before, and is there room for it?
   Returns 0, -EBADMSG, -EOVERFLOW. */
int debug_admission_room(sqlite3 *db, const struct debug_folder *folder,
                         const struct debug_piece *piece, struct debug_why why);

/* Moves the file STAGED, whose hash is SHA256, in, as sent by PIECE's board for PIECE's module.
   Returns 0; -EBADMSG when it is known as bad or as another module's, or -errno; STAGED is gone in
   every case. */
int debug_admission_take(sqlite3 *db, const struct debug_folder *folder, const char *staged,
                         const struct debug_piece *piece, const uint8_t sha256[32],
                         struct debug_why why);

#endif
