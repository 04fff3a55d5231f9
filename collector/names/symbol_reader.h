/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the symbols of debug files: now, for who can wait, or soon, for who answers questions. */
#ifndef NAMES_SYMBOL_READER_H
#define NAMES_SYMBOL_READER_H

#include "debug_file.h"

struct debug_store;
struct deep_reader;
struct symbol_reader;

/* Forks the process that workers come from: call before the first thread is made.  Borrows STORE,
   and DEEP, which is woken when debug information may wait.  Returns 0 or -errno. */
int symbol_reader_open(struct debug_store *store, struct deep_reader *deep,
                       struct symbol_reader **ret);
/* Nobody may be in symbol_reader_read; what waits is read when it is asked for again. */
void symbol_reader_close(struct symbol_reader *reader);

/* Has the symbols of FILE read, unless that was done since FILE was looked up; while another thread
   reads it that is waited for.  Blocks until its index is there or the worker gave up (bounded).
   Returns 0 when the store knows what it is, or -errno: no worker could be had.  Any thread. */
int symbol_reader_read(struct symbol_reader *reader, const struct debug_file *file);

/* The same by a thread of its own: waits for nothing.  When REQUESTS_MAX wait already it is
   forgotten, and has to be asked for again.  Any thread. */
void symbol_reader_request(struct symbol_reader *reader, const struct debug_file *file);

/* Waits, MS at most, until nothing that was requested is left.  Returns whether that is so.  Any
   thread. */
bool symbol_reader_settle(struct symbol_reader *reader, unsigned ms);

#endif
