/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose debug information is in no index: what waits to be read, and what cannot be.  One
   thread at a time. */
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

/* The debug information of file SHA256 waits, unless it was refused.  Returns 0 or -errno. */
int dwarf_list_add(sqlite3 *db, struct span sha256);
/* So does that of the files that the supplement SHA256, if an operator's, belongs to, be they read
   or refused. */
int dwarf_list_add_again(sqlite3 *db, struct span sha256);
int dwarf_list_refuse(sqlite3 *db, struct span sha256, const char *why);
/* As refused until dwarf_list_tidy. */
int dwarf_list_leave(sqlite3 *db, struct span sha256, const char *why);
/* The last in the row from now on. */
int dwarf_list_postpone(sqlite3 *db, struct span sha256);
int dwarf_list_remove(sqlite3 *db, struct span sha256);

bool dwarf_list_waits(sqlite3 *db, struct span sha256);

/* Finds one that waits: FIRST when that does.  Returns 0, -ENOENT or another -errno. */
int dwarf_list_next(sqlite3 *db, struct span first, uint8_t ret_sha256[32]);

/* Forgets files that are gone; what was left, or an older reader refused, waits again. */
void dwarf_list_tidy(sqlite3 *db);

#endif
