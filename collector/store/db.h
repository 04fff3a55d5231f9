/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite with errno values: every call returns 0 or -errno, so that the rest of the store needs no
   result codes. Bound texts and blobs are borrowed until the statement has run. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "common/span.h"

#include <sqlite3.h>

/* Opens PATH for writing with WAL and synchronous=FULL; creates it if CREATE. Returns 0 or -errno.
   Any thread. */
int db_open(const char *path, bool create, sqlite3 **ret);

/* Opens PATH for reading beside a collector that writes it. Closing leaves WAL and files unchanged.
   Returns 0, -ENOENT or -errno. */
int db_open_beside(const char *path, sqlite3 **ret);

/* From now on db_open opens like db_open_beside: for a process that inspects another process's
   store. Call it before threads are started. */
void db_stay_beside(void);
void db_close(sqlite3 *db);

/* Converts an SQLite result code. -EUCLEAN: the file is damaged. */
int db_errno(int code);

/* Creates the tables of SCHEMA in an empty file and sets its VERSION. Returns 0; -EPROTO if the
   file is from a newer program; or -errno. */
int db_schema(sqlite3 *db, const char *schema, int version);

int db_exec(sqlite3 *db, const char *sql);
int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret);

/* Prepares COUNT statements. After a failure the caller finalizes those prepared (NULL is
   allowed). */
int db_prepare_all(sqlite3 *db, const char *const *sql, size_t count, sqlite3_stmt **ret);
void db_finalize_all(sqlite3_stmt **statements, size_t count);

/* Reads the one number that SQL yields, or FALLBACK if there is no row. */
int db_number(sqlite3 *db, const char *sql, uint64_t fallback, uint64_t *ret);

/* Checks the whole file. Returns 0, -EUCLEAN if it is damaged, or -errno. */
int db_check(sqlite3 *db);

/* Returns 1 with a row, 0 at the end, or -errno. Resets the statement unless it returns 1. */
int db_step(sqlite3_stmt *statement);
/* Runs a statement without result rows and resets it. */
int db_run(sqlite3_stmt *statement);

/* Binds by position, from 1. */
void db_bind_u64(sqlite3_stmt *statement, int at, uint64_t value);
void db_bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: SQL's NULL */
void db_bind_span(sqlite3_stmt *statement, int at, struct span bytes);

/* Columns of the row, from 0. Pointers are valid until the next step. */
uint64_t db_u64(sqlite3_stmt *statement, int at);
const char *db_text(sqlite3_stmt *statement, int at); /* never NULL */
struct span db_span(sqlite3_stmt *statement, int at);

#endif
