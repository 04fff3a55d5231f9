/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a file may share bytes, each the end of a longer one; in an index they do not. So a file
   of some hundred kilobytes can produce an index of hundreds of megabytes. For real files with
   debug information the index is at most a seventh of the file (docs/performance.md). */
#include "index_bytes.h"

#include "debug_db.h"
#include "debug_store_parts.h"

#include <sys/stat.h>

enum { NAMES_PER_BYTE = 4 };          /* readable names are longer than mangled ones */
#define SMALL_FILE_BYTES (4ULL << 20) /* enough for a symbol table without much else */

uint64_t index_bytes_max(uint64_t file_bytes) {
  return SMALL_FILE_BYTES + file_bytes;
}

uint64_t index_bytes_names_max(uint64_t file_bytes) {
  return SMALL_FILE_BYTES + NAMES_PER_BYTE * file_bytes;
}

static int64_t bytes_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? status.st_size : 0;
}

int index_bytes_note(struct debug_store *store, const struct debug_file *file) {
  int64_t bytes = bytes_of(file->index_path) + bytes_of(file->dwarf_path);
  sqlite3 *db = debug_store_lock(store);
  int changes = debug_db_run(db, "INSERT OR REPLACE INTO made VALUES(?1, ?2)", "bi",
                             span_of(file->sha256, sizeof file->sha256), bytes);
  debug_store_unlock(store);
  return changes < 0 ? changes : 0;
}
