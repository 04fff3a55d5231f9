/* SPDX-License-Identifier: Apache-2.0 */
/* A program, its debug file, and compressed or partly stripped copies of both have one build-id and
   agree on the place of each function. A file that disagrees has the build-id of another, by
   mistake or on purpose, and would rename samples of years. So of two operators' files that
   contradict each other the first is kept and the second is rejected.

   Symbol tables are compared, as they are read first. Debug information that contradicts its own
   symbol table is not detected. Stripping removes functions and adds none, so it suffices that one
   of the two contains all functions of the other.

   A board's file names only that board's samples and may contradict any other. If an operator sends
   the same bytes, they would name all samples, and were read long ago. So they are compared before
   they count as an operator's. */
#include "rival_file.h"

#include "common/hex_text.h"
#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_store_parts.h"
#include "symbol/index_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
  RIVAL_FUNCTIONS_MAX = 4096, /* of one file to compare: some milliseconds */
  RIVAL_FILES_MAX = 8,        /* to compare a file with */
  SHARE = 64,                 /* one function in so many may differ: odd aliases */
};

struct comparison {
  const struct symbol_index *other;
  unsigned compared, different;
};

bool rival_file_is_why(const char *why) {
  return strstr(why, RIVAL_FILE_REASON) != NULL;
}

/* Whether NAME was made up and exists only in one kind of file: stubs of linkage tables, bounds. */
static bool is_made_up(const char *name) {
  size_t len = strlen(name);
  return len == 0 || name[0] == '[' || (len > 4 && strcmp(name + len - 4, "@plt") == 0);
}

static void compare_at(struct comparison *comparison, const struct symbol_match *mine) {
  struct symbol_match other;
  if (is_made_up(mine->name)) return;
  bool is_there = symbol_index_find(comparison->other, mine->start, &other) == 0;
  if (is_there && is_made_up(other.name)) return;
  comparison->compared++;
  bool is_same = is_there && other.start == mine->start && strcmp(other.name, mine->name) == 0;
  if (!is_same) comparison->different++;
}

/* Whether more than 1/SHARE of the compared functions of ONE have another name in OTHER, or are
   missing. */
static bool is_unlike(const struct symbol_index *one, const struct symbol_index *other) {
  struct comparison comparison = {.other = other};
  for (uint32_t i = 0; i < one->block_count; i++) {
    struct row_reader reader;
    struct symbol_match mine;
    row_reader_init(&reader, one->rows, &one->blocks[i]);
    while (row_reader_next(&reader) && comparison.compared < RIVAL_FUNCTIONS_MAX) {
      uint64_t address = row_reader_row(&reader).address;
      if (symbol_index_find(one, address, &mine) == 0 && mine.start == address)
        compare_at(&comparison, &mine);
    }
  }
  return comparison.different * SHARE > comparison.compared;
}

/* Whether more than 1/SHARE of the functions differ in both directions. */
static bool are_unlike(const struct symbol_index *one, const struct symbol_index *other) {
  return is_unlike(one, other) && is_unlike(other, one);
}

/* Writes to FOUND the operators' files with the build-id of SHA256. Finds none unless SHA256 is an
   operator's file itself or, if it IS_NEW to operators, not a list. */
static int find_others(struct debug_store *store, struct span sha256, bool is_new,
                       uint8_t found[RIVAL_FILES_MAX][32]) {
  static const char sql[] =
      "SELECT other.sha256 FROM file AS mine JOIN file AS other USING(build_id)"
      " WHERE mine.sha256 = ?1 AND other.sha256 <> ?1 AND other.quality >= ?2"
      " AND EXISTS(SELECT 1 FROM origin WHERE board = '' AND origin.sha256 = other.sha256)"
      " AND (?4 <> 0 AND mine.quality > ?5 OR"
      "      EXISTS(SELECT 1 FROM origin WHERE board = '' AND origin.sha256 = mine.sha256))"
      " ORDER BY other.rowid LIMIT ?3";
  sqlite3_stmt *row;
  int count = 0;
  sqlite3 *db = debug_store_lock(store);
  int error = debug_db_query(db, &row, sql, "biiii", sha256, (int64_t)DEBUG_SYMTAB,
                             (int64_t)RIVAL_FILES_MAX, (int64_t)is_new, (int64_t)DEBUG_MAP);
  while (error == 0 && count < RIVAL_FILES_MAX && sqlite3_step(row) == SQLITE_ROW) {
    struct span other = debug_db_bytes(row, 0);
    if (other.len == 32) memcpy(found[count++], other.data, 32);
  }
  if (error == 0) debug_db_end(row);
  debug_store_unlock(store);
  return error != 0 ? error : count;
}

static bool contradicts(struct debug_store *store, const struct symbol_index *mine,
                        const uint8_t sha256[32]) {
  char path[DEBUG_PATH_BYTES];
  struct index_file other;
  debug_store_index_path(store, sha256, path);
  if (index_file_open(path, &other) != 0) return false; /* the index is missing: no evidence */
  bool is_other = are_unlike(mine, &other.index);
  index_file_close(&other);
  return is_other;
}

/* Finds the first of COUNT OTHERS that contradicts the index at PATH. */
static int find_among(struct debug_store *store, const char *path, uint8_t (*others)[32], int count,
                      uint8_t ret_sha256[32]) {
  struct index_file mine;
  if (count <= 0) return count == 0 ? -ENOENT : count;
  int error = index_file_open(path, &mine);
  if (error != 0) return error;
  error = -ENOENT;
  for (int i = 0; i < count && error == -ENOENT; i++) {
    if (!contradicts(store, &mine.index, others[i])) continue;
    memcpy(ret_sha256, others[i], 32);
    error = 0;
  }
  index_file_close(&mine);
  return error;
}

int rival_file_find(struct debug_store *store, const struct debug_file *file,
                    uint8_t ret_sha256[32]) {
  uint8_t others[RIVAL_FILES_MAX][32];
  int count = find_others(store, span_of(file->sha256, sizeof file->sha256), false, others);
  return find_among(store, file->index_path, others, count, ret_sha256);
}

int rival_file_find_of_new(struct debug_store *store, const uint8_t sha256[32],
                           uint8_t ret_sha256[32]) {
  char path[DEBUG_PATH_BYTES];
  uint8_t others[RIVAL_FILES_MAX][32];
  debug_store_index_path(store, sha256, path);
  int count = find_others(store, span_of(sha256, 32), true, others);
  return find_among(store, path, others, count, ret_sha256);
}

void rival_file_print(const uint8_t rival[32], char *why, size_t why_len) {
  char text[2 * 32 + 1];
  hex_text_print(span_of(rival, 32), text, sizeof text);
  snprintf(why, why_len, RIVAL_FILE_REASON " and has other functions: %s", text);
}
