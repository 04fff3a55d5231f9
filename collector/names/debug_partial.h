/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads under way, piece by piece, to be gone on with after either end was away.  One thread at
   a time. */
#ifndef NAMES_DEBUG_PARTIAL_H
#define NAMES_DEBUG_PARTIAL_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

struct debug_partial {
  uint64_t offset;   /* bytes that are here */
  int64_t touched_s; /* when the last piece came; 0: there is none */
};

/* The name of PIECE's upload.  A board sends one file of a module; of operators several may send at
   once, each what he has, and those who send the same bytes send one upload. */
void debug_partial_key(const struct debug_piece *piece, char key[DEBUG_KEY_BYTES]);

/* Where PIECE's upload stands. */
void debug_partial_find(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, struct debug_partial *ret);

/* Writes PIECE, whose fields have been checked against each other.  Returns 1 when all bytes are
   there, 0 when more are expected, -ESPIPE when it is not where the upload goes on, or -errno, with
   the reason in WHY. */
int debug_partial_write(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, char *why, size_t why_len);

/* Forgets the upload and removes its file, if it is there. */
void debug_partial_remove(sqlite3 *db, const struct debug_folder *folder, const char *key);

/* Removes what nobody went on with since BEFORE_S, and files that belong to no upload. */
void debug_partial_sweep(sqlite3 *db, const struct debug_folder *folder, int64_t before_s);

#endif
