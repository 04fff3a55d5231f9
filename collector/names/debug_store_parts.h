/* SPDX-License-Identifier: Apache-2.0 */
/* The debug store's database, for the files of this folder that keep books of their own in it. */
#ifndef NAMES_DEBUG_STORE_PARTS_H
#define NAMES_DEBUG_STORE_PARTS_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

/* Waits for the store's turn and returns its database, to be given back by debug_store_unlock.  Any
   thread. */
sqlite3 *debug_store_lock(struct debug_store *store);
void debug_store_unlock(struct debug_store *store);

struct catalogue_file;

enum {
  DEBUG_NO_BETTER_S = 24 * 60 * 60
}; /* how long a board that sent its best is not asked again */

struct debug_wishes *debug_store_wishes(struct debug_store *store);

const struct debug_folder *debug_store_folder(const struct debug_store *store);

/* Answers about each module that file SHA256 is, or was sent for, may differ from now on.  With the
   store's turn. */
void debug_store_changed(struct debug_store *store, const uint8_t sha256[32]);

/* FILE's places on disk, and what else is known of it, into RET. */
void debug_store_describe(const struct debug_store *store, const struct catalogue_file *file,
                          struct debug_file *ret);

/* How many damaged catalogues were set aside. */
uint64_t debug_store_set_aside(const struct debug_store *store);

/* Where the bytes of the file SHA256 are. */
void debug_store_path(const struct debug_store *store, const uint8_t sha256[32],
                      char path[DEBUG_PATH_BYTES]);
/* Where the index of its symbols is. */
void debug_store_index_path(const struct debug_store *store, const uint8_t sha256[32],
                            char path[DEBUG_PATH_BYTES]);

#endif
