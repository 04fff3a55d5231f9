/* SPDX-License-Identifier: Apache-2.0 */
/* Partial uploads, which either end can resume after an interruption. One thread at a time. */
#ifndef NAMES_DEBUG_PARTIAL_H
#define NAMES_DEBUG_PARTIAL_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

struct debug_partial {
  uint64_t offset;   /* bytes received */
  int64_t touched_s; /* time of the last piece; 0: no upload */
};

/* Makes the key of PIECE's upload. A board sends one file of a module. Operators may send several
   at once; operators that send the same bytes share one upload. */
void debug_partial_key(const struct debug_piece *piece, char key[DEBUG_KEY_BYTES]);

/* Finds the progress of PIECE's upload. */
void debug_partial_find(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, struct debug_partial *ret);

/* Writes PIECE, after its fields were checked. Returns 1 if the upload is complete, 0 if more is
   expected, -ESPIPE if PIECE does not continue the upload, or -errno, with the reason in WHY. */
int debug_partial_write(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, char *why, size_t why_len);

/* Deletes the upload's row and its file, if it exists. */
void debug_partial_remove(sqlite3 *db, const struct debug_folder *folder, const char *key);

/* Removes uploads not touched since BEFORE_S, and files without an upload. */
void debug_partial_sweep(sqlite3 *db, const struct debug_folder *folder, int64_t before_s);

#endif
