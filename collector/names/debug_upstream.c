/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_upstream.h"

#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_store_parts.h"

#include <errno.h>

enum {
  ID_BYTES_MIN = 8,  /* xxhash ids of lld are the shortest */
  ID_BYTES_MAX = 20, /* SHA-1, the linkers' default; 32 bytes may be a file's SHA-256 */
};

int debug_upstream_next(struct debug_store *store, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                        size_t *ret_len) {
  static const char sql[] =
      "SELECT id FROM module WHERE length(id) BETWEEN ?2 AND ?3 GROUP BY id"
      " HAVING max(until_s) > ?1" /* some board reported that it has none; an offline board does not
                                     count */
      " AND NOT EXISTS (SELECT 1 FROM upstream WHERE upstream.id = module.id AND until_s > ?1)"
      " AND NOT EXISTS (SELECT 1 FROM file WHERE build_id = module.id"
      "                 AND (quality = ?4 OR quality >= ?5)"
      "                 AND (SELECT count(DISTINCT board) >= 2 OR max(board = '') FROM origin"
      "                      WHERE origin.sha256 = file.sha256))"
      " LIMIT 1";
  sqlite3 *db = debug_store_lock(store);
  sqlite3_stmt *row;
  int error = debug_db_query(db, &row, sql, "iiiii", catalogue_now_s(), (int64_t)ID_BYTES_MIN,
                             (int64_t)ID_BYTES_MAX, (int64_t)DEBUG_MAP, (int64_t)DEBUG_SYMTAB);
  if (error == 0) {
    int code = sqlite3_step(row);
    struct span id = code == SQLITE_ROW ? debug_db_bytes(row, 0) : span_of(NULL, 0);
    error = code == SQLITE_DONE ? -ENOENT : code != SQLITE_ROW || id.len == 0 ? -EIO : 0;
    if (error == 0) memcpy(ret_id, id.data, *ret_len = id.len);
    debug_db_end(row);
  }
  debug_store_unlock(store);
  return error;
}

int debug_upstream_note(struct debug_store *store, struct span id, int64_t pause_s) {
  sqlite3 *db = debug_store_lock(store);
  int changes = debug_db_run(db, "INSERT OR REPLACE INTO upstream VALUES(?1, ?2)", "bi", id,
                             catalogue_now_s() + pause_s);
  debug_db_run(db, "DELETE FROM upstream WHERE until_s < ?1", "i", catalogue_now_s());
  debug_store_unlock(store);
  return changes < 0 ? changes : 0;
}
