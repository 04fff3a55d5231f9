/* SPDX-License-Identifier: Apache-2.0 */
/* DIR/debug.db, statement by statement.  One thread at a time. */
#ifndef NAMES_DEBUG_DB_H
#define NAMES_DEBUG_DB_H

#include "common/span.h"

#include <sqlite3.h>

enum { DEBUG_DB_VERSION = 1 }; /* 0: lists of symbols stood elsewhere in the order of qualities */

/* Opens the database at PATH and looks it through, making its tables.  Returns 0; -EUCLEAN when it
   is damaged; -EPROTO when a newer program wrote it; or -errno; with one line in ERROR. */
int debug_db_open(const char *path, sqlite3 **ret, char *error, size_t error_len);
void debug_db_close(sqlite3 *db);

/* Values for the ?1, ?2... of a statement follow TYPES, one letter each: b struct span, s const
   char * (NULL is NULL), i int64_t. */

/* Runs SQL, which returns nothing.  Returns the number of rows changed, or -errno. */
int debug_db_run(sqlite3 *db, const char *sql, const char *types, ...);

/* Prepares SQL for reading; the caller steps, and ends it by debug_db_end.  Returns 0 or -errno. */
int debug_db_query(sqlite3 *db, sqlite3_stmt **ret, const char *sql, const char *types, ...);
int debug_db_end(sqlite3_stmt *statement);

/* Runs SQL, whose answer is one number.  Returns it, or FALLBACK when there is none. */
int64_t debug_db_number(sqlite3 *db, int64_t fallback, const char *sql, const char *types, ...);

/* Column NUMBER as bytes, valid until the next step. */
struct span debug_db_bytes(sqlite3_stmt *row, int number);

#endif
