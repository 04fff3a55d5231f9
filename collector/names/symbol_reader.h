/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the symbols of debug files: synchronously for uploads, in the background for queries. */
#ifndef NAMES_SYMBOL_READER_H
#define NAMES_SYMBOL_READER_H

#include "debug_file.h"

struct debug_store;
struct deep_reader;
struct symbol_reader;

/* Starts the fork server of its workers. Borrows STORE, and DEEP, which is woken when debug
   information may be queued. Returns 0 or -errno. */
int symbol_reader_open(struct debug_store *store, struct deep_reader *deep,
                       struct symbol_reader **ret);
/* No thread may be in symbol_reader_read. Pending requests are dropped and must be repeated. */
void symbol_reader_close(struct symbol_reader *reader);

/* Reads the symbols of FILE, unless that was done since FILE was looked up. If another thread reads
   it, waits for that thread. Blocks until its index exists or the worker failed (bounded). Returns
   0 if the store has recorded the result, or -errno: no worker could be started. Any thread. */
int symbol_reader_read(struct symbol_reader *reader, const struct debug_file *file);

/* The same in a background thread, without waiting. If REQUESTS_MAX requests are pending, the
   request is dropped and must be repeated. Any thread. */
void symbol_reader_request(struct symbol_reader *reader, const struct debug_file *file);

/* Waits at most MS milliseconds until no request is left. Returns whether that is so. Any
   thread. */
bool symbol_reader_settle(struct symbol_reader *reader, unsigned ms);

#endif
