/* SPDX-License-Identifier: Apache-2.0 */
/* A file is accepted before it is read. If the collector ends between the two, or the worker had no
   CPU time, no sender repeats the upload: its bytes are stored. */
#include "debug_unread.h"

#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_store_parts.h"

#include <errno.h>

int debug_unread_list(struct debug_store *store, struct debug_file *ret, unsigned max) {
  static const char sql[] = "SELECT sha256 FROM file WHERE quality = 0 ORDER BY EXISTS(SELECT 1"
                            " FROM origin WHERE origin.sha256 = file.sha256 AND board = '') DESC,"
                            " rowid LIMIT ?1";
  struct catalogue_file file;
  sqlite3_stmt *row;
  unsigned count = 0;
  sqlite3 *db = debug_store_lock(store);
  int error = debug_db_query(db, &row, sql, "i", (int64_t)max);
  if (error == 0) {
    while (count < max && sqlite3_step(row) == SQLITE_ROW)
      if (catalogue_find(db, debug_db_bytes(row, 0), &file) == 0)
        debug_store_describe(store, &file, &ret[count++]);
    debug_db_end(row);
  }
  debug_store_unlock(store);
  return error != 0 ? error : (int)count;
}
