/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_sent.h"

#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_partial.h"
#include "debug_store_parts.h"

void debug_sent_find(struct debug_store *store, struct span id, struct span sha256,
                     struct debug_sent *ret) {
  static const char sql[] = "SELECT 1 FROM origin WHERE sha256 = ?1 AND board = '' AND module = ?2";
  const struct debug_piece piece = {.id = id, .sha256 = sha256};
  struct debug_partial partial = {0};
  struct catalogue_file file;
  *ret = (struct debug_sent){.bytes = 0};
  if (id.len == 0 || id.len > LIMIT_MODULE_ID_BYTES) return;
  sqlite3 *db = debug_store_lock(store);
  debug_partial_find(db, debug_store_folder(store), &piece, &partial);
  bool is_whole = partial.offset == 0 && debug_db_number(db, 0, sql, "bb", sha256, id) == 1 &&
                  catalogue_find(db, sha256, &file) == 0;
  debug_store_unlock(store);
  *ret = is_whole ? (struct debug_sent){file.bytes, true, file.quality}
                  : (struct debug_sent){.bytes = partial.offset};
}
