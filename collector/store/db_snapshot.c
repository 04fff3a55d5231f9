/* SPDX-License-Identifier: Apache-2.0 */
/* An open read transaction in WAL mode is a snapshot. It costs nothing to take, blocks no other
   connection, and ends on close. Meanwhile the WAL grows, because pages that a reader may need are
   not overwritten. SQLite's backup copies page by page within that transaction.

   Two processes use the file. The last to close a database normally cleans up: it writes the WAL
   back and unlinks it, by name. By then the collector may have deleted this file and created
   another with its name, and that file's WAL would be unlinked. So this process cleans up nothing.
   An empty WAL and its index may stay beside a day file that no process has open, until the
   collector opens it next. */
#include "db_snapshot.h"

#include "db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  HOLD_MS_MAX = 60 * 1000, /* the wait for constantly busy writers */
  STEP_PAGES = 64,         /* 256 KiB between two calls of on_step */
};

struct db_snapshot {
  sqlite3 *db;
};

/* Begins a read transaction; the first read fixes the snapshot. Returns 1 if the database is
   empty. */
static int pin(struct db_snapshot *snapshot) {
  uint64_t tables = 0, pages = 0;
  int error = db_exec(snapshot->db, "BEGIN");
  if (error == 0) error = db_number(snapshot->db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
  if (error == 0) error = db_number(snapshot->db, "PRAGMA page_count", 0, &pages);
  return error != 0 ? error : pages == 0;
}

static int hold(struct db_snapshot *snapshot) {
  sqlite3_busy_timeout(snapshot->db, HOLD_MS_MAX);
  return db_exec(snapshot->db, "BEGIN IMMEDIATE"); /* closing rolls it back, with no changes made */
}

static int open_and(int (*step)(struct db_snapshot *), const char *path, struct db_snapshot **ret) {
  struct db_snapshot *snapshot = calloc(1, sizeof *snapshot);
  if (snapshot == NULL) return -ENOMEM;
  int error = db_open_beside(path, &snapshot->db);
  if (error == 0) error = step(snapshot);
  if (error != 0) {
    db_snapshot_close(snapshot);
    return error;
  }
  *ret = snapshot;
  return 0;
}

int db_snapshot_open(const char *path, struct db_snapshot **ret) {
  return open_and(pin, path, ret);
}

int db_snapshot_hold(const char *path, struct db_snapshot **ret) {
  return open_and(hold, path, ret);
}

void db_snapshot_close(struct db_snapshot *snapshot) {
  if (snapshot == NULL) return;
  db_close(snapshot->db);
  free(snapshot);
}

int db_snapshot_number(const struct db_snapshot *snapshot, const char *sql, uint64_t *ret) {
  return db_number(snapshot->db, sql, 0, ret);
}

static int copy_pages(sqlite3_backup *copy, int (*on_step)(void *context), void *context) {
  int code = SQLITE_OK, stop = 0;
  while (code == SQLITE_OK && stop == 0) {
    code = sqlite3_backup_step(copy, STEP_PAGES);
    stop = on_step(context);
  }
  return stop != 0 ? stop : db_errno(code);
}

/* Creates the target file. It is discarded after any failure, so nothing is synced. */
static int open_copy(const char *path, sqlite3 **ret) {
  if (unlink(path) != 0 && errno != ENOENT) return -errno;
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  close(fd);
  int error =
      db_errno(sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
  return error != 0 ? error : db_exec(*ret, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
}

int db_snapshot_copy(struct db_snapshot *snapshot, const char *path, int (*on_step)(void *context),
                     void *context) {
  sqlite3 *to = NULL;
  int error = open_copy(path, &to);
  sqlite3_backup *copy = error == 0 ? sqlite3_backup_init(to, "main", snapshot->db, "main") : NULL;
  if (error == 0) error = copy == NULL ? -ENOMEM : copy_pages(copy, on_step, context);
  if (copy != NULL) {
    int finished = db_errno(sqlite3_backup_finish(copy));
    if (error == 0) error = finished;
  }
  db_close(to);
  return error;
}

int db_snapshot_check(struct db_snapshot *snapshot, char *why, size_t why_len) {
  sqlite3_stmt *check = NULL;
  int row = db_prepare(snapshot->db, "PRAGMA integrity_check(1)", &check);
  if (row == 0) row = db_step(check);
  if (row == 1) {
    snprintf(why, why_len, "%s", db_text(check, 0));
    for (char *line = strchr(why, '\n'); line != NULL; line = strchr(line, '\n')) *line = ' ';
    row = strcmp(why, "ok") == 0 ? 0 : -EUCLEAN;
  } else if (row == -EUCLEAN) {
    snprintf(why, why_len, "%s", sqlite3_errmsg(snapshot->db));
  }
  sqlite3_finalize(check);
  return row;
}
