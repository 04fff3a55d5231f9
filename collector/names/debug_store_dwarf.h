/* SPDX-License-Identifier: Apache-2.0 */
/* The debug store's queue of files with unread debug information. Any thread. */
#ifndef NAMES_DEBUG_STORE_DWARF_H
#define NAMES_DEBUG_STORE_DWARF_H

#include "debug_store.h"

/* Queues the debug information of file SHA256, after its symbols were read. Does nothing if it was
   rejected before. */
int debug_store_await_dwarf(struct debug_store *store, const uint8_t sha256[32]);

/* Finds the next file in the queue: the one of the last debug_store_hurry first, then the longest
   waiting. Returns 0 or -ENOENT. */
int debug_store_next_dwarf(struct debug_store *store, struct debug_file *ret);

/* Moves file SHA256 to the head of the queue, if it waits, because queries need it. */
void debug_store_hurry(struct debug_store *store, const uint8_t sha256[32]);

/* Moves file SHA256 to the end of the queue: it cannot be read now. */
void debug_store_postpone(struct debug_store *store, const uint8_t sha256[32]);

/* Records that the debug information of SHA256 was read. LACKS describes missing information, "" if
   it is complete. */
int debug_store_set_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *lacks);

/* Records that the debug information is unusable, and WHY. The file keeps naming by its symbol
   table. Unless the failure IS_LASTING, it is queued again when the store is next opened. */
int debug_store_refuse_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *why,
                             bool is_lasting);

#endif
