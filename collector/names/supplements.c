/* SPDX-License-Identifier: Apache-2.0 */
/* Two kinds with different lookups. The common file of `dwz -m` has a build-id, which the other
   files refer to. A .dwo or .dwp file has none: it belongs to the module that it was sent for, and
   the module's file selects its units. */
#include "supplements.h"

#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_store_parts.h"
#include "dwarf_list.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int outcome(int changes) {
  return changes < 0 ? changes : 0;
}

int supplements_note(struct debug_store *store, const uint8_t sha256[32], struct span id) {
  sqlite3 *db = debug_store_lock(store);
  int changes = debug_db_run(db, "INSERT OR REPLACE INTO refer VALUES(?1, ?2)", "bb",
                             span_of(sha256, 32), id);
  debug_store_unlock(store);
  return outcome(changes);
}

int supplements_add(struct debug_store *store, const uint8_t sha256[32], struct span build_id) {
  int error = build_id.len > 0 ? debug_store_set_identity(store, sha256, build_id)
                               : debug_store_adopt_identity(store, sha256);
  if (error == 0)
    error = debug_store_set_quality(store, sha256, DEBUG_SUPPLEMENT,
                                    "the file sent is debug information that others refer to");
  if (error != 0) return error;
  sqlite3 *db = debug_store_lock(store);
  error = dwarf_list_add_again(db, span_of(sha256, 32));
  debug_store_unlock(store);
  return error;
}

int supplements_open(struct debug_store *store, const uint8_t sha256[32], int *fds, unsigned max) {
  static const char sql[] =
      "SELECT sha256 FROM file WHERE quality = ?2 AND build_id IN"
      "  (SELECT build_id FROM file WHERE sha256 = ?1 UNION SELECT id FROM refer WHERE sha256 = ?1)"
      " AND EXISTS (SELECT 1 FROM origin WHERE origin.sha256 = file.sha256 AND board = '')"
      " ORDER BY rowid DESC LIMIT ?3";
  sqlite3_stmt *row;
  unsigned count = 0;
  sqlite3 *db = debug_store_lock(store);
  int error = debug_db_query(db, &row, sql, "bii", span_of(sha256, 32), (int64_t)DEBUG_SUPPLEMENT,
                             (int64_t)max);
  while (error == 0 && count < max && sqlite3_step(row) == SQLITE_ROW) {
    char path[DEBUG_PATH_BYTES];
    struct span found = debug_db_bytes(row, 0);
    if (found.len != 32) continue;
    debug_store_path(store, found.data, path);
    fds[count] = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fds[count] >= 0) count++; /* else it was evicted since */
  }
  if (error == 0) debug_db_end(row);
  debug_store_unlock(store);
  return error != 0 ? error : (int)count;
}
