/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the debug information of files whose symbol table is read already, one after the other, in
   the background. */
#ifndef NAMES_DEEP_READER_H
#define NAMES_DEEP_READER_H

#include <stdbool.h>

struct debug_store;
struct deep_reader;

/* Forks the process that workers come from: call before the first thread is made.  Borrows STORE.
   Returns 0 or -errno. */
int deep_reader_open(struct debug_store *store, struct deep_reader **ret);
/* Ends what is being read: it is read again by the next one. */
void deep_reader_close(struct deep_reader *reader);

/* Something may wait in the store: the first time this starts a thread.  Any thread. */
void deep_reader_wake(struct deep_reader *reader);

/* Waits, MS at most, until nothing waits to be read.  Returns whether that is so.  Any thread. */
bool deep_reader_settle(struct deep_reader *reader, unsigned ms);

#endif
