/* SPDX-License-Identifier: Apache-2.0 */
/* Reads debug information in the background, one file at a time, after the symbol table was
   read. */
#ifndef NAMES_DEEP_READER_H
#define NAMES_DEEP_READER_H

#include <stdbool.h>

struct debug_store;
struct deep_reader;

/* Starts the fork server of its workers. Borrows STORE. Returns 0 or -errno. */
int deep_reader_open(struct debug_store *store, struct deep_reader **ret);
/* Ends the current job: its file is read again after the next start. */
void deep_reader_close(struct deep_reader *reader);

/* Signals that the queue may have files; the first call starts the thread. Any thread. */
void deep_reader_wake(struct deep_reader *reader);

/* Waits at most MS milliseconds until the queue is empty. Returns whether it is. Any thread. */
bool deep_reader_settle(struct deep_reader *reader, unsigned ms);

#endif
