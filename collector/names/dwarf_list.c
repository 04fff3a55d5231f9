/* SPDX-License-Identifier: Apache-2.0 */
/* The work left for a file after its symbol table was read. It is in the database, so that a
   restarted collector continues and does not retry a file that crashed a worker. */
#include "dwarf_list.h"

#include "debug_db.h"
#include "debug_file.h"
#include "symbol/index_format.h"

#include <errno.h>

static int outcome(int changes) {
  return changes < 0 ? changes : 0;
}

int dwarf_list_add(sqlite3 *db, struct span sha256) {
  return outcome(debug_db_run(db, "INSERT OR IGNORE INTO dwarf VALUES(?1, ?2, '', ?3)", "bii",
                              sha256, (int64_t)DWARF_WAITS, (int64_t)INDEX_VERSION));
}

int dwarf_list_add_again(sqlite3 *db, struct span sha256) {
  return outcome(debug_db_run(
      db,
      "REPLACE INTO dwarf SELECT sha256, ?2, '', ?3 FROM file,"
      " (SELECT build_id AS own FROM file WHERE sha256 = ?1)"
      " WHERE EXISTS (SELECT 1 FROM origin WHERE origin.sha256 = ?1 AND board = '')"
      " AND (sha256 IN (SELECT sha256 FROM refer WHERE id = own)"
      "  OR (build_id = own AND (quality = ?4 OR sha256 IN (SELECT sha256 FROM dwarf))))",
      "biii", sha256, (int64_t)DWARF_WAITS, (int64_t)INDEX_VERSION, (int64_t)DEBUG_DWARF));
}

static int refuse_by(sqlite3 *db, struct span sha256, const char *why, int64_t reader) {
  return outcome(debug_db_run(db, "REPLACE INTO dwarf VALUES(?1, ?2, ?3, ?4)", "bisi", sha256,
                              (int64_t)DWARF_REFUSED, why, reader));
}

int dwarf_list_refuse(sqlite3 *db, struct span sha256, const char *why) {
  return refuse_by(db, sha256, why, INDEX_VERSION);
}

int dwarf_list_leave(sqlite3 *db, struct span sha256, const char *why) {
  return refuse_by(db, sha256, why, 0); /* no reader has this number */
}

int dwarf_list_postpone(sqlite3 *db, struct span sha256) {
  return outcome(debug_db_run(db,
                              "UPDATE dwarf SET rowid = (SELECT max(rowid) + 1 FROM dwarf)"
                              " WHERE sha256 = ?1",
                              "b", sha256));
}

int dwarf_list_remove(sqlite3 *db, struct span sha256) {
  return outcome(debug_db_run(db, "DELETE FROM dwarf WHERE sha256 = ?1", "b", sha256));
}

bool dwarf_list_waits(sqlite3 *db, struct span sha256) {
  sqlite3_stmt *row;
  if (debug_db_query(db, &row, "SELECT 1 FROM dwarf WHERE sha256 = ?1 AND state = ?2", "bi", sha256,
                     (int64_t)DWARF_WAITS) != 0)
    return false;
  bool waits = sqlite3_step(row) == SQLITE_ROW;
  debug_db_end(row);
  return waits;
}

int dwarf_list_next(sqlite3 *db, struct span first, uint8_t ret_sha256[32]) {
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row,
                             "SELECT sha256 FROM dwarf WHERE state = ?2"
                             " ORDER BY sha256 = ?1 DESC, rowid LIMIT 1",
                             "bi", first, (int64_t)DWARF_WAITS);
  if (error != 0) return error;
  int code = sqlite3_step(row);
  struct span sha256 = code == SQLITE_ROW ? debug_db_bytes(row, 0) : span_of(NULL, 0);
  if (sha256.len == 32) memcpy(ret_sha256, sha256.data, 32);
  bool is_found = sha256.len == 32;
  debug_db_end(row);
  if (is_found) return 0;
  return code == SQLITE_ROW || code == SQLITE_DONE ? -ENOENT : -EIO;
}

void dwarf_list_tidy(sqlite3 *db) {
  debug_db_run(db, "DELETE FROM dwarf WHERE sha256 NOT IN (SELECT sha256 FROM file)", "");
  debug_db_run(db, "UPDATE dwarf SET state = ?1, why = '', reader = ?2 WHERE reader <> ?2", "ii",
               (int64_t)DWARF_WAITS, (int64_t)INDEX_VERSION);
}
