/* SPDX-License-Identifier: Apache-2.0 */
/* How large the indexes of a debug file may be, and are. */
#ifndef NAMES_INDEX_BYTES_H
#define NAMES_INDEX_BYTES_H

#include "debug_store.h"

/* The most that an index may take that is made of FILE_BYTES, those of supplements with them. Pure.
 */
uint64_t index_bytes_max(uint64_t file_bytes);

/* The most that its names may take when they are unpacked. Pure. */
uint64_t index_bytes_names_max(uint64_t file_bytes);

/* Counts what the indexes of FILE take now towards the limits of the store and of those who sent
   it. Returns 0 or -errno.  Any thread. */
int index_bytes_note(struct debug_store *store, const struct debug_file *file);

#endif
