/* SPDX-License-Identifier: Apache-2.0 */
/* Two checks of day files.

   The first runs at every start, so it must be quick. It checks that the file is a database of this
   store's format, that it has the length its header states, and that the first and last row of each
   table can be read. That finds damage to whole files (cut, overwritten, replaced) in under a
   millisecond each. A month of days takes some hundredths of a second. With more days, or on a disk
   that hangs, time runs out; the remaining files are checked when they are read.

   The second reads everything. SQLite's own check covers its trees, but a block is a blob to
   SQLite: only unpacking reveals a flipped bit. */
#include "day_check.h"

#include "block.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "day_folder.h"
#include "day_reader.h"
#include "db.h"
#include "proto/compress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FOREST_BYTES_MAX = 1 << 30 };

#define START_NS_MAX (2 * NS_PER_SECOND)

/* Returns -EUCLEAN if the file is shorter than its header states. With a WAL it passes: the WAL may
   hold the missing pages. */
static int check_length(const char *path, sqlite3 *db) {
  char wal[DAY_PATH_BYTES + 8];
  struct stat status, of_wal;
  uint64_t pages = 0, page_bytes = 0;
  snprintf(wal, sizeof wal, "%s-wal", path);
  if (stat(path, &status) != 0) return -errno;
  int error = db_number(db, "PRAGMA page_count", 0, &pages);
  if (error == 0) error = db_number(db, "PRAGMA page_size", 0, &page_bytes);
  if (error != 0) return error;
  if (stat(wal, &of_wal) == 0 && of_wal.st_size > 0) return 0;
  return (uint64_t)status.st_size < pages * page_bytes ? -EUCLEAN : 0;
}

/* Reads the first row of TABLE and, if HAS_NUMBERS (it has rowids), the last. */
static int check_table(sqlite3 *db, const char *table, bool has_numbers) {
  static const char *const ends[] = {"SELECT * FROM %Q LIMIT 1",
                                     "SELECT * FROM %Q ORDER BY rowid DESC LIMIT 1"};
  int row = 0;
  for (unsigned i = 0; i < 1U + has_numbers && row >= 0; i++) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf(ends[i], table);
    row = sql == NULL ? -ENOMEM : db_prepare(db, sql, &statement);
    if (row == 0) row = db_step(statement);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
  }
  return row < 0 ? row : 0;
}

static int check_tables(sqlite3 *db) {
  sqlite3_stmt *list = NULL;
  int error = db_prepare(db,
                         "SELECT name,sql NOT LIKE '%WITHOUT ROWID' FROM sqlite_schema"
                         " WHERE type='table'",
                         &list);
  int row = error;
  while (row >= 0 && (row = db_step(list)) == 1) {
    error = check_table(db, db_text(list, 0), db_u64(list, 1) != 0);
    if (error != 0) break;
  }
  sqlite3_finalize(list);
  return error != 0 ? error : row;
}

static int glance(const char *path) {
  sqlite3 *db = NULL;
  int error = db_open(path, false, &db);
  if (error == 0) error = check_length(path, db);
  if (error == 0) error = check_tables(db);
  db_close(db);
  return error;
}

static bool set_aside(const char *dir, enum day_kind kind, uint32_t day, const char *path) {
  int error = day_folder_set_aside(dir, kind, day);
  log_error("store-damaged %s: %s", path,
            error == 0 ? "set aside as *.corrupt; its samples are missing from answers"
                       : strerror(-error));
  return error == 0;
}

/* Checks DAY's file of KIND, if it exists. Returns the number of files set aside. */
static unsigned glance_at(const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES];
  bool is_damaged = day_folder_path(dir, kind, day, path) == 0 && glance(path) == -EUCLEAN;
  return is_damaged && set_aside(dir, kind, day, path);
}

unsigned day_check_start(const char *dir, unsigned *ret_unseen) {
  uint64_t until_ns = clock_monotonic_ns() + START_NS_MAX;
  uint32_t *days = NULL;
  size_t count = 0;
  unsigned damaged = 0;
  if (day_folder_list(dir, DAY_KINDS, &days, &count) != 0) count = 0; /* readers report it */
  while (count > 0 && clock_monotonic_ns() < until_ns) {
    uint32_t day = days[--count];
    for (unsigned kind = 0; kind < DAY_KINDS; kind++) damaged += glance_at(dir, kind, day);
  }
  free(days);
  *ret_unseen = (unsigned)count;
  return damaged;
}

/* Buffers for unpacking blocks. */
struct unpacking {
  struct buf columns;
  struct packer packer;
  struct store_row *rows;
};

static int read_block(sqlite3_stmt *next, struct unpacking *room) {
  uint64_t count = db_u64(next, 0), raw_len = db_u64(next, 1);
  if (count > BLOCK_ROWS_MAX || raw_len > BLOCK_BYTES_MAX) return -EUCLEAN;
  buf_clear(&room->columns);
  int error = block_unpack(&room->packer, db_span(next, 2), raw_len, &room->columns);
  if (error != 0) return error == -ENOMEM ? error : -EUCLEAN;
  return block_decode(buf_span(&room->columns), room->rows, count) == (long)count ? 0 : -EUCLEAN;
}

static int read_blocks(const char *path) {
  struct unpacking room = {.rows = calloc(BLOCK_ROWS_MAX, sizeof *room.rows)};
  sqlite3_stmt *next = NULL;
  sqlite3 *db = NULL;
  int error = room.rows == NULL ? -ENOMEM : db_open(path, false, &db);
  if (error == 0) error = db_prepare(db, "SELECT rows,raw_len,bytes FROM block", &next);
  while (error == 0 && (error = db_step(next)) == 1) error = read_block(next, &room);
  sqlite3_finalize(next);
  db_close(db);
  buf_fini(&room.columns);
  packer_fini(&room.packer);
  free(room.rows);
  return error;
}

static int read_nodes(const char *path, enum day_kind kind) {
  struct day_reader *reader = NULL;
  struct store_forest forest;
  struct arena arena;
  arena_init(&arena, FOREST_BYTES_MAX);
  int error = day_reader_open(path, kind, &reader);
  if (error == 0) error = day_reader_forest(reader, &arena, &forest);
  day_reader_close(reader);
  arena_fini(&arena);
  return error;
}

int day_check_whole(const char *path, enum day_kind kind, char *why, size_t why_len) {
  snprintf(why, why_len, "its nodes make no tree");
  int error = read_nodes(path, kind);
  if (error != 0) return error == -ENOENT ? 0 : error; /* an empty file */
  snprintf(why, why_len, "a block does not unpack");
  return read_blocks(path);
}

enum day_kind day_check_kind(const char *name) {
  static const char *const prefixes[DAY_KINDS] = {"day-", "minutes-", "hours-"};
  int year = 0, month = 0, day = 0, len = 0;
  for (unsigned kind = 0; kind < DAY_KINDS; kind++) {
    size_t prefix_len = strlen(prefixes[kind]);
    if (strncmp(name, prefixes[kind], prefix_len) != 0) continue;
    const char *date = name + prefix_len;
    bool is_one = sscanf(date, "%4d-%2d-%2d.db%n", &year, &month, &day, &len) == 3 && len > 0;
    return is_one && date[len] == '\0' ? (enum day_kind)kind : DAY_KINDS;
  }
  return DAY_KINDS;
}
