/* SPDX-License-Identifier: Apache-2.0 */
/* The thin layer over SQLite.

   Durability is decided here: with WAL and synchronous=FULL a COMMIT that returned has been
   fsynced, as an ack promises. Connections are opened without SQLite's own mutexes, because each
   belongs to one thread or is guarded by a lock of the caller.

   64-bit counters are stored bit for bit as SQLite's signed integers. They are compared and
   added only in C, as unsigned. */
#include "db.h"

#include "sqlite/marks.h"
#include "sqlite/sqlite_error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum {
  BUSY_MS = 5000, /* another process (a backup, a shell) may hold the lock that long */
  VERSION_TEXT_BYTES = 64,
  BESIDE_CACHE_KIB = 256, /* hundreds of files are open at once then */
};

static bool is_beside;

void db_stay_beside(void) {
  is_beside = true;
}

/* Like sqlite_error, except that a generic SQL error means damage: the program's SQL is fixed,
   so it only fails on foreign tables. */
static int error_of(int code, int cause) {
  int kind = code & 0xff;
  bool is_not_ours = kind == SQLITE_ERROR || kind == SQLITE_SCHEMA || kind == SQLITE_FORMAT;
  return is_not_ours ? -EUCLEAN : sqlite_error(code, cause);
}

int db_errno(int code) {
  return error_of(code, 0);
}

int db_exec(sqlite3 *db, const char *sql) {
  errno = 0;
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  return error_of(code, errno);
}

void db_close(sqlite3 *db) {
  if (db != NULL) sqlite3_close(db);
}

static int set_pragmas(sqlite3 *db) {
  char limit[VERSION_TEXT_BYTES];
  sqlite3_snprintf(sizeof limit, limit, "PRAGMA journal_size_limit=%d", MARKS_WAL_BYTES_KEPT);
  sqlite3_busy_timeout(db, BUSY_MS);
  sqlite3_extended_result_codes(db, 1);
  int error = db_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                          "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                          "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096");
  return error != 0 ? error : db_exec(db, limit);
}

/* A missing file is an expected case, which SQLite would log as a failure. The caller closes RET
   in any case. */
static int open_file(const char *path, sqlite3 **ret) {
  if (access(path, F_OK) != 0 && errno == ENOENT) return -ENOENT;
  int code = sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  return code == SQLITE_CANTOPEN && access(path, F_OK) != 0 ? -ENOENT : db_errno(code);
}

static int open_here(const char *path, bool create, sqlite3 **ret) {
  /* Create the file with mode 0600: SQLite would use the umask. An existing file is not opened:
     closing it would drop the fcntl locks of this process' other connections. */
  if (create) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) return -errno;
    if (fd >= 0) close(fd);
  }
  sqlite3 *db = NULL;
  int error = open_file(path, &db);
  if (error == 0) error = set_pragmas(db);
  if (error != 0) {
    db_close(db);
    return error;
  }
  *ret = db;
  return 0;
}

/* Serialized: two connections of this process that switch an empty file to WAL at once disturb
   each other, and neither waits: either fails with some error. */
int db_open(const char *path, bool create, sqlite3 **ret) {
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  if (is_beside) return db_open_beside(path, ret);
  pthread_mutex_lock(&opening);
  int error = open_here(path, create, ret);
  pthread_mutex_unlock(&opening);
  return error;
}

int db_open_beside(const char *path, sqlite3 **ret) {
  char cache[VERSION_TEXT_BYTES];
  sqlite3 *db = NULL;
  int error = open_file(path, &db);
  if (error == 0)
    error = db_errno(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL));
  sqlite3_snprintf(sizeof cache, cache, "PRAGMA cache_size=-%d", BESIDE_CACHE_KIB);
  if (error == 0) error = db_errno(sqlite3_busy_timeout(db, BUSY_MS));
  if (error == 0) error = db_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON");
  if (error == 0) error = db_exec(db, cache);
  if (error != 0) {
    db_close(db);
    return error;
  }
  *ret = db;
  return 0;
}

int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret) {
  return db_errno(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL));
}

int db_prepare_all(sqlite3 *db, const char *const *sql, size_t count, sqlite3_stmt **ret) {
  for (size_t i = 0; i < count; i++) {
    int error = db_prepare(db, sql[i], &ret[i]);
    if (error != 0) return error;
  }
  return 0;
}

void db_finalize_all(sqlite3_stmt **statements, size_t count) {
  for (size_t i = 0; i < count; i++) sqlite3_finalize(statements[i]);
}

int db_step(sqlite3_stmt *statement) {
  errno = 0;
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return 1;
  int error = error_of(code, errno);
  sqlite3_reset(statement);
  return error;
}

int db_run(sqlite3_stmt *statement) {
  int row = db_step(statement);
  if (row == 1) sqlite3_reset(statement);
  return row < 0 ? row : 0;
}

void db_bind_u64(sqlite3_stmt *statement, int at, uint64_t value) {
  sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
}

void db_bind_text(sqlite3_stmt *statement, int at, const char *text) {
  sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

void db_bind_span(sqlite3_stmt *statement, int at, struct span bytes) {
  /* A NULL pointer would bind SQL's NULL instead of an empty blob. */
  sqlite3_bind_blob64(statement, at, bytes.len > 0 ? (const void *)bytes.data : "", bytes.len,
                      SQLITE_STATIC);
}

uint64_t db_u64(sqlite3_stmt *statement, int at) {
  return (uint64_t)sqlite3_column_int64(statement, at);
}

const char *db_text(sqlite3_stmt *statement, int at) {
  const char *text = (const char *)sqlite3_column_text(statement, at);
  return text != NULL ? text : "";
}

struct span db_span(sqlite3_stmt *statement, int at) {
  const void *data = sqlite3_column_blob(statement, at);
  int len = sqlite3_column_bytes(statement, at);
  return span_of(data, len > 0 ? (size_t)len : 0);
}

int db_number(sqlite3 *db, const char *sql, uint64_t fallback, uint64_t *ret) {
  sqlite3_stmt *statement = NULL;
  int row = db_prepare(db, sql, &statement);
  if (row == 0) row = db_step(statement);
  uint64_t number = row == 1 ? db_u64(statement, 0) : fallback;
  sqlite3_finalize(statement);
  if (row < 0) return row;
  *ret = number;
  return 0;
}

int db_check(sqlite3 *db) {
  sqlite3_stmt *check = NULL;
  int row = db_prepare(db, "PRAGMA quick_check(1)", &check);
  if (row == 0) row = db_step(check);
  if (row == 1) row = strcmp(db_text(check, 0), "ok") == 0 ? 0 : -EUCLEAN;
  sqlite3_finalize(check);
  return row;
}

int db_schema(sqlite3 *db, const char *schema, int version) {
  char mark[VERSION_TEXT_BYTES];
  uint64_t found = 0;
  int error = db_number(db, "PRAGMA user_version", 0, &found);
  if (error != 0) return error;
  if (found == (uint64_t)version) return 0;
  if (found != 0) return -EPROTO;
  sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version=%d; COMMIT", version);
  error = db_exec(db, "BEGIN IMMEDIATE");
  if (error == 0) error = db_exec(db, schema);
  if (error == 0) error = db_exec(db, mark);
  if (error != 0) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return error;
}
