/* SPDX-License-Identifier: Apache-2.0 */
/* Access to DIR/debug.db by statements. One thread at a time. */
#ifndef NAMES_DEBUG_DB_H
#define NAMES_DEBUG_DB_H

#include "common/span.h"

#include <sqlite3.h>

enum { DEBUG_DB_VERSION = 1 }; /* 0: lists of symbols ranked elsewhere among qualities */

/* Opens the database at PATH, checks it and creates its tables. Returns 0; -EUCLEAN if it is
   damaged; -EPROTO if a newer program wrote it; or -errno. On failure ERROR has one line. */
int debug_db_open(const char *path, sqlite3 **ret, char *error, size_t error_len);
void debug_db_close(sqlite3 *db);

/* Values for the ?1, ?2... of a statement follow TYPES, one letter each: b struct span, s const
   char * (NULL is NULL), i int64_t. */

/* Runs SQL, which returns no rows. Returns the number of rows changed, or -errno. */
int debug_db_run(sqlite3 *db, const char *sql, const char *types, ...);

/* Prepares SQL for reading. The caller steps it and ends it by debug_db_end. Returns 0 or
   -errno. */
int debug_db_query(sqlite3 *db, sqlite3_stmt **ret, const char *sql, const char *types, ...);
int debug_db_end(sqlite3_stmt *statement);

/* Runs SQL, which returns one number. Returns it, or FALLBACK if there is none. */
int64_t debug_db_number(sqlite3 *db, int64_t fallback, const char *sql, const char *types, ...);

/* Returns column NUMBER as bytes, valid until the next step. */
struct span debug_db_bytes(sqlite3_stmt *row, int number);

#endif
