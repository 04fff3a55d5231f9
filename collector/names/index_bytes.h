/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of a debug file's indexes, and their limits. */
#ifndef NAMES_INDEX_BYTES_H
#define NAMES_INDEX_BYTES_H

#include "debug_store.h"

/* Returns the maximum size of an index made from FILE_BYTES, including supplements. Pure. */
uint64_t index_bytes_max(uint64_t file_bytes);

/* Returns the maximum size of its unpacked names. Pure. */
uint64_t index_bytes_names_max(uint64_t file_bytes);

/* Counts the current size of FILE's indexes against the limits of the store and of its senders.
   Returns 0 or -errno. Any thread. */
int index_bytes_note(struct debug_store *store, const struct debug_file *file);

#endif
