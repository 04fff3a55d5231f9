/* SPDX-License-Identifier: Apache-2.0 */
/* DIR/access.db: opening, checking, upgrading, and queries.

   Several processes use it at once (the collector, `token`, `revoke`), so it is in WAL mode with a
   busy timeout: a writer may have to wait for another one, a reader never does. */
#include "access_db.h"

#include "common/clock.h"
#include "sqlite/sqlite_check.h"
#include "sqlite/sqlite_error.h"
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 5000, DATABASE_MODE = 0600 };

#define ACCEPT_LOSS                                                                           \
  "run fleetprof-collector accept --data DIR: tokens and revocations that are not in it are " \
  "forgotten"

static const char schema[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF;"
    "CREATE TABLE IF NOT EXISTS tokens("
    " hash BLOB PRIMARY KEY, prefix TEXT NOT NULL, role TEXT NOT NULL, board TEXT,"
    " created_s INTEGER NOT NULL, expires_ms INTEGER NOT NULL, used_s INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS boards("
    " name TEXT PRIMARY KEY, created_s INTEGER NOT NULL, serial TEXT, not_after_s INTEGER,"
    " revoked_s INTEGER, used_from_s INTEGER, root INTEGER, issued_id INTEGER,"
    " used_id INTEGER) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS boards_revoked ON boards(name) WHERE revoked_s IS NOT "
    "NULL;" ACCESS_MARKS_SCHEMA;

int64_t access_now_s(void) {
  return (int64_t)(clock_walltime_ns() / NS_PER_SECOND);
}

int64_t access_now_ms(void) {
  return (int64_t)(clock_walltime_ns() / NS_PER_MS);
}

sqlite3_stmt *access_db_prepare(struct access *access, const char *sql, const char *kinds, ...) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(access->database, sql, -1, &statement, NULL) != SQLITE_OK) return NULL;
  va_list values;
  va_start(values, kinds);
  for (int i = 1; kinds[i - 1] != 0; i++) {
    if (kinds[i - 1] == 'i') sqlite3_bind_int64(statement, i, va_arg(values, int64_t));
    if (kinds[i - 1] == 's')
      sqlite3_bind_text(statement, i, va_arg(values, const char *), -1, SQLITE_STATIC);
    if (kinds[i - 1] == 'h')
      sqlite3_bind_blob(statement, i, va_arg(values, const uint8_t *), TOKEN_HASH_BYTES,
                        SQLITE_STATIC);
  }
  va_end(values);
  return statement;
}

int access_db_finish(struct access *access, sqlite3_stmt *statement) {
  if (statement == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  errno = 0;
  bool is_change = !sqlite3_stmt_readonly(statement);
  sqlite3_step(statement);
  int cause = errno;
  int result = sqlite_error(sqlite3_finalize(statement), cause);
  if (result == 0 && is_change && sqlite3_get_autocommit(access->database))
    access_marks_note(access);
  return result;
}

int access_db_number(struct access *access, sqlite3_stmt *statement, int64_t *ret) {
  if (statement == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  if (sqlite3_step(statement) == SQLITE_ROW) *ret = sqlite3_column_int64(statement, 0);
  return sqlite_error(sqlite3_finalize(statement), 0);
}

void access_db_set_patience(struct access *access, bool is_patient) {
  sqlite3_busy_timeout(access->database, is_patient ? BUSY_TIMEOUT_MS : 0);
}

int access_db_run(struct access *access, const char *sql) {
  errno = 0;
  int code = sqlite3_exec(access->database, sql, NULL, NULL, NULL);
  return sqlite_error(code, errno);
}

int access_db_end(struct access *access, int result) {
  if (result == 0) result = access_db_run(access, "COMMIT");
  if (result != 0)
    access_db_run(access, "ROLLBACK");
  else
    access_marks_note(access);
  return result;
}

static bool has_column(struct access *access, const char *sql) {
  sqlite3_stmt *probe = NULL;
  int code = sqlite3_prepare_v2(access->database, sql, -1, &probe, NULL);
  sqlite3_finalize(probe);
  return code == SQLITE_OK;
}

/* Databases from before certificate renewal, root rollover or the ids of certificates lack columns;
   older programs ignore them. used_from_s of version 1 stays: it is earlier than the values
   compared with it, and the next session updates it. */
static int upgrade(struct access *access) {
  int result = 0;
  static const struct {
    const char *probe, *add;
  } columns[] = {
      {"SELECT used_from_s FROM boards LIMIT 0",
       "ALTER TABLE boards ADD COLUMN used_from_s INTEGER"},
      {"SELECT root FROM boards LIMIT 0", "ALTER TABLE boards ADD COLUMN root INTEGER"},
      {"SELECT issued_id FROM boards LIMIT 0", "ALTER TABLE boards ADD COLUMN issued_id INTEGER"},
      {"SELECT used_id FROM boards LIMIT 0", "ALTER TABLE boards ADD COLUMN used_id INTEGER"},
  };
  for (size_t i = 0; i < sizeof columns / sizeof *columns && result == 0; i++)
    if (!has_column(access, columns[i].probe)) result = access_db_run(access, columns[i].add);
  return result;
}

/* Checks the database before it is changed: it is small. A damaged one is not used: revoked boards
   could connect again. */
static int look(struct access *access) {
  int64_t version = 0;
  int result = sqlite_check(access->database);
  if (result == 0)
    result =
        access_db_number(access, access_db_prepare(access, "PRAGMA user_version", ""), &version);
  return result == 0 && version > ACCESS_VERSION ? -EPROTO : result;
}

static int mark_version(struct access *access) {
  char mark[32];
  snprintf(mark, sizeof mark, "PRAGMA user_version=%d", ACCESS_VERSION);
  int64_t version = 0;
  int result =
      access_db_number(access, access_db_prepare(access, "PRAGMA user_version", ""), &version);
  return result != 0 || version == ACCESS_VERSION ? result : access_db_run(access, mark);
}

int access_db_open(struct access *access, const char *dir) {
  const char *path = access->marks.path;
  int result = access_marks_expect(access, dir);
  if (result != 0) return result;
  if (mkdir(dir, 0700) != 0 && errno != EEXIST) return -errno;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, DATABASE_MODE); /* SQLite would make it 0644 */
  if (fd < 0) return -errno;
  close(fd);
  int code =
      sqlite3_open_v2(path, &access->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
  if (code != SQLITE_OK) return sqlite_error(code, 0);
  access_db_set_patience(access, true);
  result = look(access);
  if (result == 0) result = access_marks_check_tables(access);
  if (result == 0) result = access_db_run(access, schema);
  if (result == 0) result = upgrade(access);
  if (result == 0) result = mark_version(access);
  return result == 0 ? access_marks_check(access) : result;
}

const char *access_db_why(const struct access *access, int failure) {
  switch (failure) {
  case -EPROTO:
    return "written by a newer fleetprof; use that one or another --data";
  case -EUCLEAN:
    return "is damaged; restore a backup, or " ACCEPT_LOSS;
  case -ENODATA:
    return "is gone or empty, and a collector has run here: revoked boards would come in; restore "
           "a backup, or " ACCEPT_LOSS;
  case -ESTALE:
    return "is an older copy: boards revoked since would come in; put the newer one back, restore "
           "a backup, or " ACCEPT_LOSS;
  case -EXDEV:
    return "is another collector's: landing.db is not of its store; put the right one back, "
           "restore a backup, or " ACCEPT_LOSS;
  default:
    return access->database != NULL ? sqlite3_errmsg(access->database) : strerror(-failure);
  }
}
