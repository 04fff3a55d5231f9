/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that open another module's database leave its file as it is: they do no checkpoint and
   no clean-up. */
#include "marks.h"

#include "sqlite_error.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000 }; /* a backup, or the collector's own commit, may hold the lock that long */

/* Of SQLite's formats: the WAL, and the first part of its index. */
enum { WAL_HEAD = 32, FRAME_HEAD = 24, INDEX_BYTES = 32768 };

/* Prepares SQL with NAME, which stays the caller's until the statement is finalized, and with VALUE
   if there is a second parameter. An unbound name would look like a missing mark, so a failed bind
   is an error. */
static int prepare(sqlite3 *db, const char *sql, const char *name, uint64_t value,
                   sqlite3_stmt **ret) {
  int code = sqlite3_prepare_v2(db, sql, -1, ret, NULL);
  if (code != SQLITE_OK) return sqlite_error(code, 0);
  if (name != NULL) code = sqlite3_bind_text(*ret, 1, name, -1, SQLITE_STATIC);
  if (code == SQLITE_OK && sqlite3_bind_parameter_count(*ret) > 1)
    code = sqlite3_bind_int64(*ret, 2, (sqlite3_int64)value);
  if (code == SQLITE_OK) return 0;
  sqlite3_finalize(*ret);
  *ret = NULL;
  return sqlite_error(code, 0);
}

static int run(sqlite3 *db, const char *sql, const char *name, uint64_t value) {
  sqlite3_stmt *statement = NULL;
  int error = prepare(db, sql, name, value, &statement);
  if (error != 0) return error;
  errno = 0;
  sqlite3_step(statement);
  int cause = errno;
  return sqlite_error(sqlite3_finalize(statement), cause);
}

/* Returns 1, 0 or -errno. */
static int has_table(sqlite3 *db) {
  sqlite3_stmt *find = NULL;
  int error =
      prepare(db, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?", "mark", 0, &find);
  if (error != 0) return error;
  int code = sqlite3_step(find);
  sqlite3_finalize(find);
  return code == SQLITE_ROW ? 1 : sqlite_error(code, 0);
}

int marks_read(sqlite3 *db, const char *name, uint64_t *ret) {
  sqlite3_stmt *find = NULL;
  *ret = 0;
  int row = has_table(db);
  if (row != 1) return row;
  int error = prepare(db, "SELECT value FROM mark WHERE name=?", name, 0, &find);
  if (error != 0) return error;
  int code = sqlite3_step(find);
  if (code == SQLITE_ROW) *ret = (uint64_t)sqlite3_column_int64(find, 0);
  sqlite3_finalize(find);
  return code == SQLITE_ROW ? 1 : sqlite_error(code, 0);
}

int marks_write(sqlite3 *db, const char *name, uint64_t value) {
  return run(db, "INSERT OR REPLACE INTO mark(name,value) VALUES(?,?)", name, value);
}

int marks_raise(sqlite3 *db, const char *name, uint64_t value) {
  return run(db,
             "INSERT INTO mark(name,value) VALUES(?,?)"
             " ON CONFLICT DO UPDATE SET value=excluded.value WHERE excluded.value>value",
             name, value);
}

int marks_forget(sqlite3 *db, const char *name) {
  return run(db, "DELETE FROM mark WHERE name=?", name, 0);
}

int marks_each(sqlite3 *db, int (*on_mark)(void *context, const char *name, uint64_t value),
               void *context) {
  sqlite3_stmt *list = NULL;
  int result = has_table(db);
  if (result != 1) return result;
  result = prepare(db, "SELECT name,value FROM mark ORDER BY name", NULL, 0, &list);
  while (result == 0) {
    int code = sqlite3_step(list);
    if (code != SQLITE_ROW) {
      result = sqlite_error(code, 0);
      break;
    }
    const char *name = (const char *)sqlite3_column_text(list, 0); /* NULL: out of memory */
    uint64_t value = (uint64_t)sqlite3_column_int64(list, 1);
    result = name == NULL ? -ENOMEM : on_mark(context, name, value);
  }
  sqlite3_finalize(list);
  return result;
}

int marks_open(const char *dir, const char *name, sqlite3 **ret) {
  char path[MARKS_PATH_BYTES];
  sqlite3 *db = NULL;
  if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path) return -ENAMETOOLONG;
  if (access(path, F_OK) != 0) return -errno;
  int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(db, BUSY_MS);
  if (code == SQLITE_OK)
    code = sqlite3_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA synchronous=FULL", NULL, NULL, NULL);
  if (code == SQLITE_OK) {
    *ret = db;
    return 0;
  }
  sqlite3_close(db);
  return sqlite_error(code, 0);
}

int marks_peek(const char *dir, const char *database, const char *name, uint64_t *ret) {
  sqlite3 *db = NULL;
  *ret = 0;
  int result = marks_open(dir, database, &db);
  if (result == 0) result = marks_read(db, name, ret);
  sqlite3_close(db);
  return result;
}

int marks_note(const char *dir, const char *database, const char *name, uint64_t value) {
  sqlite3 *db = NULL;
  int result = marks_open(dir, database, &db);
  if (result == 0) result = has_table(db);
  if (result == 1)
    result = marks_raise(db, name, value);
  else if (result == 0)
    result = -ENOENT;
  sqlite3_close(db);
  return result;
}

/* Returns whether a WAL of BYTES has all frames that its index counts, which SQLite resets before
   it truncates. The index is read through SQLite's mapping, because closing another descriptor of
   its file would end the process's locks. Format: sqlite.org/walformat.html, "WAL-index format". */
static bool has_all_frames(sqlite3 *db, off_t bytes) {
  sqlite3_file *file = NULL;
  void volatile *index = NULL;
  if (db == NULL || sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
    return false;
  if (file == NULL || file->pMethods == NULL || file->pMethods->iVersion < 2) return false;
  if (file->pMethods->xShmMap(file, 0, INDEX_BYTES, 0, &index) != SQLITE_OK || index == NULL)
    return false;
  uint32_t page = ((const volatile uint16_t *)index)[7]; /* 1: 65536 */
  uint64_t frames = ((const volatile uint32_t *)index)[4];
  if (frames == 0) return true;
  return (uint64_t)bytes >= WAL_HEAD + frames * (FRAME_HEAD + (page == 1 ? 65536 : page));
}

static bool wal_holds(const char *path, struct marks_file *file, sqlite3 *db) {
  char wal[MARKS_PATH_BYTES];
  struct stat status;
  if ((size_t)snprintf(wal, sizeof wal, "%s-wal", path) >= sizeof wal) return true;
  if (stat(wal, &status) != 0) return errno != ENOENT || file->wal_inode == 0;
  off_t least = file->wal_bytes < MARKS_WAL_BYTES_KEPT ? file->wal_bytes : MARKS_WAL_BYTES_KEPT;
  if (file->wal_inode == 0) file->wal_inode = status.st_ino;
  if (status.st_ino != file->wal_inode) return false;
  if (status.st_size < least && !has_all_frames(db, status.st_size)) return false;
  file->wal_bytes = status.st_size;
  return true;
}

int marks_file_take(const char *path, struct marks_file *ret) {
  struct stat status;
  if (stat(path, &status) != 0) return -errno;
  struct marks_file file = {
      .device = status.st_dev, .inode = status.st_ino, .bytes = status.st_size};
  wal_holds(path, &file, NULL);
  *ret = file;
  return 0;
}

bool marks_file_holds(const char *path, struct marks_file *file, sqlite3 *db) {
  struct stat status;
  if (stat(path, &status) != 0) return errno != ENOENT; /* true if its folder cannot be searched */
  bool is_same = status.st_dev == file->device && status.st_ino == file->inode;
  if (!is_same || status.st_size < file->bytes) return false;
  file->bytes = status.st_size;
  return wal_holds(path, file, db);
}
