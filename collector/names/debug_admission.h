/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which uploads enter the debug store, and turns a complete upload into a file. One thread
   at a time, except for the first function, which is pure. */
#ifndef NAMES_DEBUG_ADMISSION_H
#define NAMES_DEBUG_ADMISSION_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

struct debug_why {
  char *text;
  size_t len;
};

/* Checks PIECE's fields against limits and each other. Returns 0, -EBADMSG or -EOVERFLOW. */
int debug_admission_check(const struct debug_piece *piece, struct debug_why why);

/* Called before the first byte of an upload. Returns 0; -EBADMSG if this file was rejected before;
   -EOVERFLOW if there is no room for it. */
int debug_admission_room(sqlite3 *db, const struct debug_folder *folder,
                         const struct debug_piece *piece, struct debug_why why);

/* Moves the file STAGED, with hash SHA256, into the store, as sent by PIECE's board for PIECE's
   module. Returns 0; -EBADMSG if the file is known as bad or as another module's; or -errno. STAGED
   is moved or deleted in every case. */
int debug_admission_take(sqlite3 *db, const struct debug_folder *folder, const char *staged,
                         const struct debug_piece *piece, const uint8_t sha256[32],
                         struct debug_why why);

#endif
