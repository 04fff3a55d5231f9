/* SPDX-License-Identifier: Apache-2.0 */
/* Incomplete uploads.

   The file's length is the progress of the upload. The database row has its final length and hash,
   so that pieces of two versions of a file are never joined. Nothing is synced before the end: the
   hash detects damage from a power cut, and the file is sent again.

   A board may have UPLOADS_PER_BOARD_MAX uploads, all operators together UPLOADS_OF_OPERATORS_MAX.
   A further upload evicts the least recently touched one, so that abandoned uploads never block a
   sender. */
#include "debug_partial.h"

#include "debug_catalogue.h"
#include "debug_db.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UPLOADS_PER_BOARD_MAX = 4, UPLOADS_OF_OPERATORS_MAX = 64 };

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t why_len,
                                                        const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, why_len, format, arguments);
  va_end(arguments);
  return -ESPIPE;
}

static uint64_t file_bytes(const struct debug_folder *folder, const char *key) {
  char path[DEBUG_PATH_BYTES];
  struct stat status;
  debug_folder_partial(folder, key, path);
  return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

void debug_partial_key(const struct debug_piece *piece, char key[DEBUG_KEY_BYTES]) {
  struct span sha256 = piece->board == NULL ? piece->sha256 : span_of(NULL, 0);
  debug_folder_key(piece->board != NULL ? piece->board : "", piece->id, sha256, key);
}

void debug_partial_find(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, struct debug_partial *ret) {
  char key[DEBUG_KEY_BYTES];
  debug_partial_key(piece, key);
  *ret = (struct debug_partial){0};
  ret->touched_s = debug_db_number(db, 0, "SELECT touched_s FROM partial WHERE key = ?1", "s", key);
  if (ret->touched_s != 0) ret->offset = file_bytes(folder, key);
}

void debug_partial_remove(sqlite3 *db, const struct debug_folder *folder, const char *key) {
  char path[DEBUG_PATH_BYTES];
  debug_folder_partial(folder, key, path);
  unlink(path);
  debug_db_run(db, "DELETE FROM partial WHERE key = ?1", "s", key);
}

/* Copies the key in ROW and ends the statement. Returns false if there is none. */
static bool take_key(sqlite3_stmt *row, char key[DEBUG_KEY_BYTES]) {
  bool is_found = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0) != NULL;
  if (is_found) snprintf(key, DEBUG_KEY_BYTES, "%s", (const char *)sqlite3_column_text(row, 0));
  debug_db_end(row);
  return is_found;
}

static void remove_strays(sqlite3 *db, const struct debug_folder *folder) {
  char path[DEBUG_PATH_BYTES];
  debug_folder_partial(folder, "", path);
  DIR *listing = opendir(path);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    static const char sql[] = "SELECT 1 FROM partial WHERE key = ?1";
    if (entry->d_name[0] == '.' || debug_db_number(db, 0, sql, "s", entry->d_name) == 1) continue;
    unlinkat(dirfd(listing), entry->d_name, 0);
  }
  closedir(listing);
}

void debug_partial_sweep(sqlite3 *db, const struct debug_folder *folder, int64_t before_s) {
  static const char sql[] = "SELECT key FROM partial WHERE touched_s < ?1 LIMIT 1";
  char key[DEBUG_KEY_BYTES];
  sqlite3_stmt *row;
  while (debug_db_query(db, &row, sql, "i", before_s) == 0 && take_key(row, key))
    debug_partial_remove(db, folder, key);
  remove_strays(db, folder);
}

/* Makes room for one more upload of BOARD. */
static void limit_uploads(sqlite3 *db, const struct debug_folder *folder, const char *board) {
  static const char sql[] = "SELECT key FROM partial WHERE board = ?1"
                            " ORDER BY touched_s DESC LIMIT 1 OFFSET ?2";
  const int64_t others_max = (*board ? UPLOADS_PER_BOARD_MAX : UPLOADS_OF_OPERATORS_MAX) - 1;
  char key[DEBUG_KEY_BYTES];
  sqlite3_stmt *row;
  while (debug_db_query(db, &row, sql, "si", board, others_max) == 0 && take_key(row, key))
    debug_partial_remove(db, folder, key);
}

/* Whether the upload KEY is of another file than PIECE's. */
static bool is_conflicting(sqlite3 *db, const char *key, const struct debug_piece *piece) {
  sqlite3_stmt *row;
  if (debug_db_query(db, &row, "SELECT bytes, sha256 FROM partial WHERE key = ?1", "s", key) != 0)
    return false;
  bool is_other = false;
  if (sqlite3_step(row) == SQLITE_ROW) {
    is_other = (uint64_t)sqlite3_column_int64(row, 0) != piece->total ||
               !span_is_equal(debug_db_bytes(row, 1), piece->sha256);
  }
  debug_db_end(row);
  return is_other;
}

/* Writes PIECE at its offset, after the HERE bytes that exist or over some of them. Another
   operator may have sent more of the same file, whose hash proves equal bytes; these are kept. */
static int write_bytes(const char *path, uint64_t here, const struct debug_piece *piece) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  struct span left = piece->bytes;
  bool may_be_others = piece->board == NULL && piece->sha256.len > 0;
  uint64_t kept = may_be_others ? here : piece->offset;
  int error = ftruncate(fd, (off_t)kept) == 0 ? 0 : -errno;
  while (error == 0 && left.len > 0) {
    uint64_t at = piece->offset + (piece->bytes.len - left.len);
    ssize_t written = pwrite(fd, left.data, left.len, (off_t)at);
    if (written < 0 && errno != EINTR) error = -errno;
    if (written > 0) left = span_of(left.data + written, left.len - (size_t)written);
  }
  if (error != 0 && ftruncate(fd, (off_t)kept) != 0) error = -EIO;
  close(fd);
  return error;
}

static int note_row(sqlite3 *db, const char *key, const struct debug_piece *piece) {
  const char *board = piece->board != NULL ? piece->board : "";
  int changes =
      debug_db_run(db,
                   "INSERT INTO partial VALUES(?1, ?2, ?3, ?4, ?5)"
                   " ON CONFLICT DO UPDATE SET touched_s = ?5",
                   "ssibi", key, board, (int64_t)piece->total, piece->sha256, catalogue_now_s());
  return changes < 0 ? changes : 0;
}

int debug_partial_write(sqlite3 *db, const struct debug_folder *folder,
                        const struct debug_piece *piece, char *why, size_t why_len) {
  const char *board = piece->board != NULL ? piece->board : "";
  char key[DEBUG_KEY_BYTES], path[DEBUG_PATH_BYTES];
  struct debug_partial here;
  debug_partial_key(piece, key);
  if (is_conflicting(db, key, piece)) {
    debug_partial_remove(db, folder, key);
    if (piece->offset > 0)
      return refuse(why, why_len, "size or hash differ from the first piece's: start again at 0");
  }
  debug_partial_find(db, folder, piece, &here);
  if (piece->offset > here.offset)
    return refuse(why, why_len, "offset %llu, but only %llu bytes are here",
                  (unsigned long long)piece->offset, (unsigned long long)here.offset);
  if (here.touched_s == 0) limit_uploads(db, folder, board);
  debug_folder_partial(folder, key, path);
  int error = note_row(db, key, piece);
  if (error == 0) error = write_bytes(path, here.offset, piece);
  if (error != 0) {
    snprintf(why, why_len, "cannot be written: %s", strerror(-error));
    return error;
  }
  return piece->offset + piece->bytes.len == piece->total ? 1 : 0;
}
