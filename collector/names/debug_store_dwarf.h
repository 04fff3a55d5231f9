/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the debug store that says whose debug information waits to be read.  Any thread. */
#ifndef NAMES_DEBUG_STORE_DWARF_H
#define NAMES_DEBUG_STORE_DWARF_H

#include "debug_store.h"

/* The debug information of file SHA256, whose symbols were read, is to be read as well.  Known as
   refused already: nothing happens. */
int debug_store_await_dwarf(struct debug_store *store, const uint8_t sha256[32]);

/* Finds a file whose debug information waits to be read: before others the one that was asked for
   last (debug_store_hurry), then the one that waits longest.  Returns 0 or -ENOENT. */
int debug_store_next_dwarf(struct debug_store *store, struct debug_file *ret);

/* Answers need file SHA256: if it waits, it is next. */
void debug_store_hurry(struct debug_store *store, const uint8_t sha256[32]);

/* It cannot be read now: the others first. */
void debug_store_postpone(struct debug_store *store, const uint8_t sha256[32]);

/* The debug information of SHA256 was read; LACKS says what of it could not be had, "" when all of
   it was. */
int debug_store_set_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *lacks);

/* It is of no use, and WHY: what its symbol table names it goes on to name.  Unless that
   IS_LASTING, it waits again when the store is opened the next time. */
int debug_store_refuse_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *why,
                             bool is_lasting);

#endif
