/* SPDX-License-Identifier: Apache-2.0 */
/* The debug store's database, for modules of this folder with tables of their own in it. */
#ifndef NAMES_DEBUG_STORE_PARTS_H
#define NAMES_DEBUG_STORE_PARTS_H

#include "debug_folder.h"
#include "debug_store.h"

#include <sqlite3.h>

/* Locks the store and returns its database. Unlock it by debug_store_unlock. Any thread. */
sqlite3 *debug_store_lock(struct debug_store *store);
void debug_store_unlock(struct debug_store *store);

struct catalogue_file;

enum {
  DEBUG_NO_BETTER_S = 24 * 60 * 60
}; /* how long a board that sent its best file is not asked again */

struct debug_wishes *debug_store_wishes(struct debug_store *store);

const struct debug_folder *debug_store_folder(const struct debug_store *store);

/* Marks that answers about each module of file SHA256, found or claimed, may differ from now on.
   With the store locked. */
void debug_store_changed(struct debug_store *store, const uint8_t sha256[32]);

/* Writes FILE's paths on disk and its other data to RET. */
void debug_store_describe(const struct debug_store *store, const struct catalogue_file *file,
                          struct debug_file *ret);

/* Returns how many catalogues were set aside. */
uint64_t debug_store_set_aside(const struct debug_store *store);

/* Writes the path of the file SHA256. */
void debug_store_path(const struct debug_store *store, const uint8_t sha256[32],
                      char path[DEBUG_PATH_BYTES]);
/* Writes the path of its symbol index. */
void debug_store_index_path(const struct debug_store *store, const uint8_t sha256[32],
                            char path[DEBUG_PATH_BYTES]);

#endif
