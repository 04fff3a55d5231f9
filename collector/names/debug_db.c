/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the debug store, and three functions to query them.

     file     files in DIR/debug, by the SHA-256 of their bytes, with the worker's results
     origin   the board (or operator: '') that sent a file, and the module that it named
     module   modules that boards use, and until when requests for their files are suspended
     upstream modules requested from other servers, and until when they are not requested again
     refer    the build-id of the supplement that a file refers to
     made     the bytes of a file's indexes
     partial  incomplete uploads
     dwarf    files with debug information in no index: it waits to be read, or cannot be

   Data lost here can be requested again, so the log is not synced at each commit.

   All statements are a few dozen texts of this folder. Each is prepared once and kept with the
   connection for the next query with the same text. A fleet that connects queries each module of
   each board: preparing took nine tenths of that time. */
#include "debug_db.h"

#include "sqlite/sqlite_check.h"
#include "sqlite/sqlite_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char schema[] =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS file(sha256 BLOB PRIMARY KEY, bytes INTEGER NOT NULL,"
    " quality INTEGER NOT NULL, reader INTEGER NOT NULL, build_id BLOB, reason TEXT NOT NULL,"
    " added_s INTEGER NOT NULL);" /* with rowids: they give the order of arrival */
    "CREATE INDEX IF NOT EXISTS file_build_id ON file(build_id);"
    "CREATE TABLE IF NOT EXISTS origin(sha256 BLOB, board TEXT, module BLOB,"
    " PRIMARY KEY(sha256, board, module)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS origin_module ON origin(module);"
    "CREATE INDEX IF NOT EXISTS origin_board ON origin(board);"
    "CREATE TABLE IF NOT EXISTS module(id BLOB, board TEXT, path TEXT NOT NULL,"
    " wanted_s INTEGER NOT NULL, reason TEXT NOT NULL, until_s INTEGER NOT NULL,"
    " PRIMARY KEY(id, board)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS module_board ON module(board, wanted_s);"
    /* version 1 had no lists of symbols */
    "UPDATE file SET quality = quality + 1, reader = 2 WHERE reader = 1 AND quality >= 3;"
    /* version 2 had no bounds without names */
    "UPDATE file SET quality = quality + 1, reader = 3 WHERE reader = 2 AND quality >= 2;"
    /* schema 0 ranked lists of symbols above exported functions */
    "UPDATE file SET quality = 7 - quality WHERE quality IN (3, 4)"
    " AND (SELECT user_version FROM pragma_user_version) = 0;"
    "CREATE TABLE IF NOT EXISTS dwarf(sha256 BLOB PRIMARY KEY, state INTEGER NOT NULL,"
    " why TEXT NOT NULL, reader INTEGER NOT NULL);" /* with rowids: they give the order of waiting
                                                     */
    "CREATE TABLE IF NOT EXISTS upstream(id BLOB PRIMARY KEY, until_s INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS refer(sha256 BLOB PRIMARY KEY, id BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS refer_id ON refer(id);"
    "CREATE TABLE IF NOT EXISTS made(sha256 BLOB PRIMARY KEY, bytes INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS partial(key TEXT PRIMARY KEY, board TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, sha256 BLOB, touched_s INTEGER NOT NULL) WITHOUT ROWID;";

enum { BUSY_MS_MAX = 5000 }; /* a backup may hold the file for a moment */

/* Checks the tables before they are changed. They are small: rows, not files. */
static int look(sqlite3 *db, const char *path, int64_t *ret_version, char *error,
                size_t error_len) {
  int failure = sqlite_check(db);
  if (failure != 0) return failure;
  int64_t version = *ret_version = debug_db_number(db, 0, "PRAGMA user_version", "");
  if (version <= DEBUG_DB_VERSION) return 0;
  snprintf(error, error_len,
           "%s: written by a newer fleetprof: format %lld, this one knows %d; use that one or "
           "another --data",
           path, (long long)version, DEBUG_DB_VERSION);
  return -EPROTO;
}

void debug_db_close(sqlite3 *db) {
  for (sqlite3_stmt *kept; db != NULL && (kept = sqlite3_next_stmt(db, NULL)) != NULL;)
    sqlite3_finalize(kept);
  sqlite3_close(db);
}

int debug_db_open(const char *path, sqlite3 **ret, char *error, size_t error_len) {
  sqlite3 *db = NULL;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int code = sqlite3_open_v2(path, &db, flags, NULL);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(db, BUSY_MS_MAX);
  int failure = sqlite_error(code, 0);
  int64_t version = 0;
  if (failure == 0) failure = look(db, path, &version, error, error_len);
  errno = 0;
  if (failure == 0) failure = sqlite_error(sqlite3_exec(db, schema, NULL, NULL, NULL), errno);
  if (failure == 0 && version != DEBUG_DB_VERSION) /* this is a write, which fails on a full disk */
    failure = sqlite_error(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), errno);
  if (failure == 0) {
    *ret = db;
    return 0;
  }
  if (failure != -EPROTO)
    snprintf(error, error_len, "%s: %s", path,
             failure == -EUCLEAN ? "is damaged"
             : db != NULL        ? sqlite3_errmsg(db)
                                 : "out of memory");
  debug_db_close(db);
  return failure;
}

/* An unbound value would be NULL, which no row contains. Returns 0 or -errno. */
static int bind_values(sqlite3_stmt *statement, const char *types, va_list values) {
  int code = SQLITE_OK;
  for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++) {
    struct span bytes;
    const char *text;
    switch (types[i]) {
    case 'b':
      bytes = va_arg(values, struct span);
      code = sqlite3_bind_blob64(statement, i + 1, bytes.data, bytes.len, SQLITE_TRANSIENT);
      break;
    case 's':
      text = va_arg(values, const char *);
      code = sqlite3_bind_text(statement, i + 1, text, -1, SQLITE_TRANSIENT);
      break;
    default:
      code = sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
    }
  }
  return sqlite_error(code, 0);
}

static int prepare(sqlite3 *db, sqlite3_stmt **ret, const char *sql) {
  for (sqlite3_stmt *kept = sqlite3_next_stmt(db, NULL); kept != NULL;
       kept = sqlite3_next_stmt(db, kept)) {
    if (sqlite3_stmt_busy(kept) || strcmp(sqlite3_sql(kept), sql) != 0) continue;
    *ret = kept;
    return 0;
  }
  return sqlite_error(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL), 0);
}

int debug_db_end(sqlite3_stmt *statement) {
  if (statement == NULL) return 0;
  int error = sqlite_error(sqlite3_reset(statement), 0);
  sqlite3_clear_bindings(statement);
  return error;
}

int debug_db_query(sqlite3 *db, sqlite3_stmt **ret, const char *sql, const char *types, ...) {
  int error = prepare(db, ret, sql);
  if (error != 0) return error;
  va_list values;
  va_start(values, types);
  error = bind_values(*ret, types, values);
  va_end(values);
  if (error != 0) {
    debug_db_end(*ret);
    *ret = NULL;
  }
  return error;
}

int debug_db_run(sqlite3 *db, const char *sql, const char *types, ...) {
  sqlite3_stmt *statement;
  int error = prepare(db, &statement, sql);
  if (error != 0) return error;
  va_list values;
  va_start(values, types);
  error = bind_values(statement, types, values);
  va_end(values);
  if (error == 0) sqlite3_step(statement);
  int failed = debug_db_end(statement);
  if (error == 0) error = failed;
  return error != 0 ? error : sqlite3_changes(db);
}

int64_t debug_db_number(sqlite3 *db, int64_t fallback, const char *sql, const char *types, ...) {
  sqlite3_stmt *statement;
  if (prepare(db, &statement, sql) != 0) return fallback;
  va_list values;
  va_start(values, types);
  int error = bind_values(statement, types, values);
  va_end(values);
  bool is_found = error == 0 && sqlite3_step(statement) == SQLITE_ROW &&
                  sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
  int64_t number = is_found ? sqlite3_column_int64(statement, 0) : fallback;
  debug_db_end(statement);
  return number;
}

struct span debug_db_bytes(sqlite3_stmt *row, int number) {
  const void *bytes = sqlite3_column_blob(row, number);
  return span_of(bytes, bytes != NULL ? (size_t)sqlite3_column_bytes(row, number) : 0);
}
