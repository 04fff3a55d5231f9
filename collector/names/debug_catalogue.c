/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the files' visibility, as SQL.

   A file belongs to the module of the build-id that a worker found in it. The sender's claim counts
   only until then, and only for the sender's samples. A file without a build-id is identified by
   the SHA-256 of its bytes, which cannot be claimed for other bytes.

   A file from one board names only that board's samples. If two boards send the same bytes, or an
   operator does, all samples use it. So one compromised board can corrupt only its own names, and
   two of them cannot corrupt names that an operator has supplied.

   Rejected files keep their row, so that the same bytes are not accepted and parsed again. */
#include "debug_catalogue.h"

#include "common/clock.h"
#include "common/table.h"
#include "debug_db.h"
#include "debug_store_parts.h"
#include "dwarf_list.h"
#include "symbol/index_texts.h"

#include <errno.h>
#include <stdio.h>

enum { DEBUG_MODULES_PER_BOARD = 8192 }; /* a board's daemon reports some hundreds */

#define FILE_COLUMNS                               \
  "file.sha256, bytes, quality, build_id, reason," \
  " (SELECT min(board) FROM origin WHERE origin.sha256 = file.sha256)"
#define IS_MODULE "(build_id = ?1 OR (file.sha256 = ?1 AND quality > 0))"

int64_t catalogue_now_s(void) {
  return (int64_t)(clock_walltime_ns() / NS_PER_SECOND);
}

static void copy_bytes(struct span from, uint8_t *to, size_t room) {
  if (from.len > 0) memcpy(to, from.data, from.len < room ? from.len : room);
}

/* Returns the sender by the alphabetically first board; operators, whose name is empty, come
   first. */
static uint32_t sender_of(const char *board) {
  if (board == NULL || board[0] == '\0') return INDEX_TEXTS_OPERATORS;
  return 1 + (uint32_t)(table_hash(board, strlen(board), 0) % (INDEX_TEXTS_SENDERS - 1));
}

static void read_file_row(sqlite3_stmt *row, struct catalogue_file *ret) {
  *ret = (struct catalogue_file){.bytes = (uint64_t)sqlite3_column_int64(row, 1),
                                 .quality = (enum debug_quality)sqlite3_column_int(row, 2),
                                 .sender = sender_of((const char *)sqlite3_column_text(row, 5))};
  copy_bytes(debug_db_bytes(row, 0), ret->sha256, sizeof ret->sha256);
  struct span build_id = debug_db_bytes(row, 3);
  copy_bytes(build_id, ret->build_id, sizeof ret->build_id);
  ret->build_id_len = (uint32_t)build_id.len;
  const char *reason = (const char *)sqlite3_column_text(row, 4);
  snprintf(ret->reason, sizeof ret->reason, "%s", reason != NULL ? reason : "");
}

static int take_file(sqlite3_stmt *statement, int error, struct catalogue_file *ret) {
  if (error != 0) return error;
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) read_file_row(statement, ret);
  debug_db_end(statement);
  if (code == SQLITE_ROW) return 0;
  return code == SQLITE_DONE ? -ENOENT : -EIO;
}

static int outcome(int changes) {
  return changes < 0 ? changes : 0;
}

int catalogue_add_file(sqlite3 *db, const struct catalogue_file *file, const char *board,
                       struct span id) {
  struct span sha256 = span_of(file->sha256, sizeof file->sha256);
  int changes =
      debug_db_run(db, "INSERT OR IGNORE INTO file VALUES(?1, ?2, 0, ?3, NULL, '', ?4)", "biii",
                   sha256, (int64_t)file->bytes, (int64_t)INDEX_VERSION, catalogue_now_s());
  if (changes < 0) return changes;
  /* If an operator also sends a board's supplement, it counts from then on: it is read again, and
     then found. */
  debug_db_run(db, "UPDATE file SET quality = 0 WHERE sha256 = ?1 AND quality = ?2 AND ?3 = ''",
               "bis", sha256, (int64_t)DEBUG_SUPPLEMENT, board);
  return outcome(debug_db_run(db, "INSERT OR IGNORE INTO origin VALUES(?1, ?2, ?3)", "bsb", sha256,
                              board, id));
}

int catalogue_remove_file(sqlite3 *db, struct span sha256) {
  int changes = debug_db_run(db, "DELETE FROM origin WHERE sha256 = ?1", "b", sha256);
  if (changes >= 0) changes = debug_db_run(db, "DELETE FROM dwarf WHERE sha256 = ?1", "b", sha256);
  if (changes >= 0) changes = debug_db_run(db, "DELETE FROM made WHERE sha256 = ?1", "b", sha256);
  if (changes < 0) return changes;
  return outcome(debug_db_run(db, "DELETE FROM file WHERE sha256 = ?1", "b", sha256));
}

int catalogue_set_identity(sqlite3 *db, struct span sha256, struct span build_id) {
  int changes =
      debug_db_run(db, "UPDATE file SET build_id = ?2 WHERE sha256 = ?1", "bb", sha256, build_id);
  return outcome(changes);
}

int catalogue_first_module(sqlite3 *db, struct span sha256, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                           size_t *ret_len) {
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row,
                             "SELECT module FROM origin WHERE sha256 = ?1"
                             " ORDER BY board = '' DESC, board, module LIMIT 1",
                             "b", sha256);
  if (error != 0) return error;
  int code = sqlite3_step(row);
  if (code == SQLITE_ROW) {
    struct span id = debug_db_bytes(row, 0);
    copy_bytes(id, ret_id, LIMIT_MODULE_ID_BYTES);
    *ret_len = id.len < LIMIT_MODULE_ID_BYTES ? id.len : LIMIT_MODULE_ID_BYTES;
  }
  debug_db_end(row);
  return code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -ENOENT : -EIO;
}

int catalogue_set_quality(sqlite3 *db, struct span sha256, enum debug_quality quality,
                          const char *reason) {
  int changes = debug_db_run(db,
                             "UPDATE file SET quality = ?2, reason = ?3, reader = ?4"
                             " WHERE sha256 = ?1",
                             "bisi", sha256, (int64_t)quality, reason, (int64_t)INDEX_VERSION);
  return outcome(changes);
}

int catalogue_find(sqlite3 *db, struct span sha256, struct catalogue_file *ret) {
  sqlite3_stmt *statement;
  int error = debug_db_query(db, &statement, "SELECT " FILE_COLUMNS " FROM file WHERE sha256 = ?1",
                             "b", sha256);
  return take_file(statement, error, ret);
}

/* If an operator has sent a file of a module with a symbol table (5) or better, boards' files do
   not name other boards' samples of it. */
#define OVERRULED                                                                  \
  "(quality >= 5 AND EXISTS(SELECT 1 FROM file AS other JOIN origin USING(sha256)" \
  "  WHERE other.build_id = file.build_id AND other.quality >= 5 AND origin.board = ''))"

_Static_assert(DEBUG_SYMTAB == 5, "OVERRULED says it");

#define IS_OPERATORS "EXISTS(SELECT 1 FROM origin WHERE origin.sha256 = file.sha256 AND board = '')"

/* Files of module ?1 that were read and are visible to board ?2. */
#define VISIBLE                                                                               \
  " FROM file WHERE " IS_MODULE " AND quality >= ?3 AND (?2 IS NULL OR (SELECT"               \
  " (count(DISTINCT board) >= 2 AND NOT " OVERRULED ") OR max(board = ?2) OR max(board = '')" \
  " FROM origin WHERE origin.sha256 = file.sha256))"

/* An operator's file precedes others of its quality, then the largest does. */
#define BEST_FIRST " ORDER BY quality DESC, " IS_OPERATORS " DESC, bytes DESC, file.sha256"

int catalogue_best(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret) {
  static const char sql[] = "SELECT " FILE_COLUMNS VISIBLE BEST_FIRST " LIMIT 1";
  sqlite3_stmt *statement;
  int error = debug_db_query(db, &statement, sql, "bsi", id, board, (int64_t)DEBUG_BOUNDS);
  return take_file(statement, error, ret);
}

int catalogue_public(sqlite3 *db, struct span id, struct catalogue_file *ret, unsigned max) {
  static const char sql[] =
      "SELECT " FILE_COLUMNS " FROM file WHERE " IS_MODULE
      " AND (quality >= ?2 OR quality = ?4) AND"
      " (SELECT (count(DISTINCT board) >= 2 AND NOT " OVERRULED ")  OR max(board = '') FROM origin"
      "  WHERE origin.sha256 = file.sha256)" BEST_FIRST " LIMIT ?3";
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row, sql, "biii", id, (int64_t)DEBUG_BOUNDS, (int64_t)max,
                             (int64_t)DEBUG_SUPPLEMENT);
  if (error != 0) return error;
  unsigned count = 0;
  while (count < max && sqlite3_step(row) == SQLITE_ROW) read_file_row(row, &ret[count++]);
  debug_db_end(row);
  return (int)count;
}

void catalogue_module_path(sqlite3 *db, struct span id, char *path, size_t path_len) {
  sqlite3_stmt *row;
  path[0] = '\0';
  if (debug_db_query(db, &row, "SELECT path FROM module WHERE id = ?1 LIMIT 1", "b", id) != 0)
    return;
  if (sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0) != NULL)
    snprintf(path, path_len, "%s", (const char *)sqlite3_column_text(row, 0));
  debug_db_end(row);
}

int catalogue_sources(sqlite3 *db, const char *board, struct span id,
                      struct catalogue_file *files) {
  static const char sql[] = "SELECT " FILE_COLUMNS VISIBLE BEST_FIRST;
  sqlite3_stmt *row;
  int count = 0, code = SQLITE_ROW;
  int error = debug_db_query(db, &row, sql, "bsi", id, board, (int64_t)DEBUG_BOUNDS);
  if (error != 0) return error;
  while (count < DEBUG_SOURCES_MAX && (code = sqlite3_step(row)) == SQLITE_ROW) {
    enum debug_quality quality = (enum debug_quality)sqlite3_column_int(row, 2);
    if (count == 0 || quality < files[count - 1].quality) read_file_row(row, &files[count++]);
  }
  debug_db_end(row);
  return code == SQLITE_ROW || code == SQLITE_DONE ? count : -EIO;
}

int catalogue_supplement(sqlite3 *db, struct span id, struct catalogue_file *ret) {
  sqlite3_stmt *statement;
  int error =
      debug_db_query(db, &statement,
                     "SELECT " FILE_COLUMNS " FROM file WHERE build_id = ?1 AND quality = ?2"
                     " ORDER BY rowid DESC LIMIT 1",
                     "bi", id, (int64_t)DEBUG_SUPPLEMENT);
  return take_file(statement, error, ret);
}

bool catalogue_has_whole(sqlite3 *db, const char *board, struct span id) {
  static const char sql[] =
      "SELECT count(*)" VISIBLE " AND (quality >= ?4 OR quality = ?5) LIMIT 1";
  return debug_db_number(db, 0, sql, "bsiii", id, board, (int64_t)DEBUG_BOUNDS,
                         (int64_t)DEBUG_SYMTAB, (int64_t)DEBUG_MAP) > 0;
}

int catalogue_unread(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret) {
  static const char sql[] =
      "SELECT " FILE_COLUMNS " FROM origin JOIN file USING(sha256)"
      " WHERE module = ?1 AND quality = 0 AND (?2 IS NULL OR board IN (?2, '') OR"
      "  (SELECT count(DISTINCT board) >= 2 FROM origin AS every"
      "   WHERE every.sha256 = file.sha256))"
      " ORDER BY added_s LIMIT 1";
  sqlite3_stmt *statement;
  int error = debug_db_query(db, &statement, sql, "bs", id, board);
  return take_file(statement, error, ret);
}

int catalogue_latest(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret) {
  static const char sql[] = "SELECT " FILE_COLUMNS " FROM origin JOIN file USING(sha256)"
                            " WHERE module = ?1 AND board = ?2 ORDER BY file.rowid DESC LIMIT 1";
  sqlite3_stmt *statement;
  int error = debug_db_query(db, &statement, sql, "bs", id, board);
  return take_file(statement, error, ret);
}

bool catalogue_is_file_of(const struct catalogue_file *file, struct span id) {
  return span_is_equal(id, span_of(file->build_id, file->build_id_len)) ||
         span_is_equal(id, span_of(file->sha256, sizeof file->sha256));
}

int catalogue_idle(sqlite3 *db, int64_t before_s, struct catalogue_file *ret) {
  static const char sql[] =
      "SELECT " FILE_COLUMNS
      " FROM file WHERE (quality >= 2 OR quality < 0) AND max(added_s, coalesce("
      "  (SELECT max(wanted_s) FROM module WHERE id = build_id), 0)) < ?1"
      " ORDER BY added_s LIMIT 1";
  sqlite3_stmt *statement;
  int error = debug_db_query(db, &statement, sql, "i", before_s);
  return take_file(statement, error, ret);
}

uint64_t catalogue_bytes(sqlite3 *db) {
  return (uint64_t)debug_db_number(db, 0,
                                   "SELECT (SELECT coalesce(sum(bytes), 0) FROM file"
                                   "        WHERE quality <> 1)"
                                   "     + (SELECT coalesce(sum(bytes), 0) FROM made)"
                                   "     + (SELECT coalesce(sum(bytes), 0) FROM partial)",
                                   "");
}

#define SENT_ALONE                                                          \
  " FROM file WHERE sha256 IN (SELECT sha256 FROM origin WHERE board = ?1)" \
  " AND NOT EXISTS(SELECT 1 FROM origin WHERE origin.sha256 = file.sha256 AND board <> ?1)"

uint64_t catalogue_bytes_of(sqlite3 *db, const char *board) {
  return (uint64_t)debug_db_number(db, 0,
                                   "SELECT (SELECT coalesce(sum(bytes), 0)" SENT_ALONE
                                   "        AND quality <> 1)"
                                   "     + (SELECT coalesce(sum(bytes), 0) FROM made"
                                   "        WHERE sha256 IN (SELECT sha256" SENT_ALONE "))"
                                   "     + (SELECT coalesce(sum(bytes), 0) FROM partial"
                                   "        WHERE board = ?1)",
                                   "s", board);
}

uint64_t catalogue_files_of(sqlite3 *db, const char *board) {
  return (uint64_t)debug_db_number(db, 0, "SELECT count(*)" SENT_ALONE, "s", board);
}

int catalogue_note_module(sqlite3 *db, const char *board, struct span id, const char *path) {
  int changes = debug_db_run(db,
                             "INSERT INTO module VALUES(?1, ?2, ?3, ?4, '', 0)"
                             " ON CONFLICT DO UPDATE SET path = ?3, wanted_s = ?4",
                             "bssi", id, board, path, catalogue_now_s());
  if (changes < 0) return changes;
  return outcome(debug_db_run(db,
                              "DELETE FROM module WHERE board = ?1 AND id IN (SELECT id FROM module"
                              " WHERE board = ?1 ORDER BY wanted_s DESC LIMIT -1 OFFSET ?2)",
                              "si", board, (int64_t)DEBUG_MODULES_PER_BOARD));
}

int catalogue_refuse_module(sqlite3 *db, const char *board, struct span id, const char *reason,
                            int64_t until_s) {
  return outcome(debug_db_run(db,
                              "UPDATE module SET reason = ?3, until_s = ?4"
                              " WHERE id = ?1 AND board = ?2",
                              "bssi", id, board, reason, until_s));
}

int catalogue_refuse_senders(sqlite3 *db, struct span sha256, struct span but, const char *reason,
                             int64_t until_s) {
  return outcome(debug_db_run(db,
                              "UPDATE module SET reason = ?2, until_s = ?3 WHERE (id, board) IN"
                              " (SELECT module, board FROM origin WHERE sha256 = ?1"
                              "  AND (?4 IS NULL OR (module IS NOT ?4 AND module IS NOT ?1)))",
                              "bsib", sha256, reason, until_s, but));
}

int64_t catalogue_refused_until(sqlite3 *db, const char *board, struct span id) {
  return debug_db_number(db, 0, "SELECT until_s FROM module WHERE id = ?1 AND board = ?2", "bs", id,
                         board);
}

int catalogue_each_unrefused(sqlite3 *db, const char *board, int64_t now_s, int64_t max,
                             bool (*on_module)(void *context, struct span id, const char *path),
                             void *context) {
  static const char sql[] =
      "SELECT id, path FROM module WHERE board = ?1 AND (until_s <= ?2 OR until_s > ?2 + ?3)"
      " ORDER BY wanted_s DESC LIMIT ?4";
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row, sql, "siii", board, now_s, (int64_t)DEBUG_NO_BETTER_S, max);
  if (error != 0) return error;
  int code;
  bool goes_on = true;
  while (goes_on && (code = sqlite3_step(row)) == SQLITE_ROW)
    goes_on = on_module(context, debug_db_bytes(row, 0), (const char *)sqlite3_column_text(row, 1));
  if (goes_on && code != SQLITE_DONE) error = -EIO;
  debug_db_end(row);
  return error;
}

/* Returns the reason why the module of ROW has no better names, and the remedy. */
static const char *reason_of(sqlite3_stmt *row, enum debug_quality quality, char *text,
                             size_t text_len) {
  const char *told = (const char *)sqlite3_column_text(row, 2);
  const char *of_file = (const char *)sqlite3_column_text(row, 4);
  const char *of_dwarf = (const char *)sqlite3_column_text(row, 6);
  bool is_unread = sqlite3_column_int(row, 7) != 0;
  bool has_reason = of_file != NULL && of_file[0] != '\0';
  if (sqlite3_column_int(row, 5) == DWARF_WAITS && quality == DEBUG_DWARF)
    return "its debug information is being read again";
  if (sqlite3_column_int(row, 5) == DWARF_WAITS && quality == DEBUG_BOUNDS)
    return "its debug information is being read";
  if (sqlite3_column_int(row, 5) == DWARF_WAITS)
    return "named by its symbol table; its debug information is being read";
  if (sqlite3_column_int(row, 5) == DWARF_REFUSED)
    snprintf(text, text_len, "named by its symbol table; its debug information is of no use: %s",
             of_dwarf);
  else if (is_unread)
    snprintf(text, text_len, "its file is here and about to be read");
  else if (quality == DEBUG_BAD)
    snprintf(text, text_len, "its file was refused: %s; upload another one", of_file);
  else if (quality == DEBUG_DWARF && has_reason)
    snprintf(text, text_len, "its debug information was read in part: %s", of_file);
  else if (quality >= DEBUG_BOUNDS && has_reason)
    snprintf(text, text_len, "%s; upload the debug file of this build", of_file);
  else if (quality >= DEBUG_BOUNDS)
    text[0] = '\0';
  else if (told != NULL && told[0] != '\0')
    snprintf(text, text_len, "%s", told);
  else
    snprintf(text, text_len,
             "no file of it yet: the boards that use it are asked for it; uploading "
             "its debug file helps at once");
  return text;
}

int catalogue_each_operator_file(sqlite3 *db,
                                 int (*on_file)(void *context, const struct catalogue_file *file),
                                 void *context) {
  static const char sql[] =
      "SELECT " FILE_COLUMNS ", EXISTS (SELECT 1 FROM module WHERE id = file.build_id"
      "  OR id = file.sha256 OR id IN (SELECT module FROM origin"
      "   WHERE origin.sha256 = file.sha256 AND board = ''))"
      " FROM file WHERE (quality >= ?1 OR quality < 0) AND EXISTS"
      " (SELECT 1 FROM origin WHERE origin.sha256 = file.sha256"
      "  AND board = '') ORDER BY build_id, file.sha256";
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row, sql, "i", (int64_t)DEBUG_BOUNDS);
  if (error != 0) return error;
  int code;
  while (error == 0 && (code = sqlite3_step(row)) == SQLITE_ROW) {
    struct catalogue_file file;
    read_file_row(row, &file);
    file.is_seen = sqlite3_column_int(row, sqlite3_column_count(row) - 1) != 0;
    error = on_file(context, &file);
  }
  if (error == 0 && code != SQLITE_DONE) error = -EIO;
  debug_db_end(row);
  return error;
}

int catalogue_each_module(sqlite3 *db,
                          int (*on_module)(void *context, const struct debug_module *module),
                          void *context) {
  static const char sql[] =
      "SELECT id, path, told, coalesce(best.quality, 0), best.reason, dwarf.state, dwarf.why, "
      "unread"
      " FROM (SELECT id, max(path) AS path, max(module.reason) AS told,"
      "  (SELECT sha256 FROM file WHERE quality > 0 AND (build_id = id OR sha256 = id OR"
      "    (quality = 1 AND sha256 IN (SELECT sha256 FROM origin WHERE module = id)))"
      "   ORDER BY quality DESC, bytes DESC LIMIT 1) AS best_sha256,"
      "  (SELECT count(*) FROM origin JOIN file USING(sha256)"
      "   WHERE origin.module = id AND quality = 0) AS unread FROM module GROUP BY id)"
      " LEFT JOIN file AS best ON best.sha256 = best_sha256"
      " LEFT JOIN dwarf ON dwarf.sha256 = best_sha256 ORDER BY id";
  sqlite3_stmt *row;
  char text[2 * LIMIT_VALUE_BYTES];
  int error = debug_db_query(db, &row, sql, "");
  if (error != 0) return error;
  int code;
  while (error == 0 && (code = sqlite3_step(row)) == SQLITE_ROW) {
    enum debug_quality quality = (enum debug_quality)sqlite3_column_int(row, 3);
    struct debug_module module = {.id = debug_db_bytes(row, 0),
                                  .path = (const char *)sqlite3_column_text(row, 1),
                                  .quality = quality,
                                  .is_wanted = !debug_quality_is_whole(quality),
                                  .reason = reason_of(row, quality, text, sizeof text)};
    error = on_module(context, &module);
  }
  if (error == 0 && code != SQLITE_DONE) error = -EIO;
  debug_db_end(row);
  return error;
}
