/* SPDX-License-Identifier: Apache-2.0 */
/* Files with debug information in no index: waiting, or rejected. One thread at a time. */
#ifndef NAMES_DWARF_LIST_H
#define NAMES_DWARF_LIST_H

#include "common/span.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum dwarf_state {
  DWARF_WAITS = 1,
  DWARF_REFUSED = 2,
};

/* Queues the debug information of file SHA256, unless it was rejected. Returns 0 or -errno. */
int dwarf_list_add(sqlite3 *db, struct span sha256);
/* Queues the files that refer to the supplement SHA256, if an operator sent it, even if they were
   read or rejected. */
int dwarf_list_add_again(sqlite3 *db, struct span sha256);
int dwarf_list_refuse(sqlite3 *db, struct span sha256, const char *why);
/* Rejects it until dwarf_list_tidy. */
int dwarf_list_leave(sqlite3 *db, struct span sha256, const char *why);
/* Moves it to the end of the queue. */
int dwarf_list_postpone(sqlite3 *db, struct span sha256);
int dwarf_list_remove(sqlite3 *db, struct span sha256);

bool dwarf_list_waits(sqlite3 *db, struct span sha256);

/* Finds the next waiting file: FIRST if it waits. Returns 0, -ENOENT or another -errno. */
int dwarf_list_next(sqlite3 *db, struct span first, uint8_t ret_sha256[32]);

/* Deletes rows of missing files. Files that dwarf_list_leave or an older reader rejected wait
   again. */
void dwarf_list_tidy(sqlite3 *db);

#endif
