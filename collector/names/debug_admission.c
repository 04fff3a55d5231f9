/* SPDX-License-Identifier: Apache-2.0 */
/* Admission control of the debug store.

   Each check is made as early as possible: sizes with the first piece, rejected bytes by their
   announced hash, a full store before any transfer. A board has its own quota, so that one board
   cannot fill the store for others. Only bytes that no other board has sent count against it. */
#include "debug_admission.h"

#include "debug_catalogue.h"
#include "symbol/map_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define STORE_BYTES_MAX (8ULL << 30)
#define BOARD_BYTES_MAX (2ULL << 30)

enum {
  BOARD_FILES_MAX = 4096,
  IDLE_S = 30 * 24 * 60 * 60, /* a file may be evicted if no board used its module for so long */
  SHA256_BYTES = 32,
};

static const char elf_magic[] = {0x7f, 'E', 'L', 'F'};

__attribute__((format(printf, 3, 4))) static int refuse(struct debug_why why, int error,
                                                        const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why.text, why.len, format, arguments);
  va_end(arguments);
  return error;
}

int debug_admission_check(const struct debug_piece *piece, struct debug_why why) {
  if (piece->board != NULL && strlen(piece->board) > LIMIT_NAME_BYTES)
    return refuse(why, -EOVERFLOW, "board name over LIMIT_NAME_BYTES");
  if (piece->id.len == 0 || piece->id.len > LIMIT_MODULE_ID_BYTES)
    return refuse(why, -EBADMSG, "module id of %zu bytes", piece->id.len);
  if (piece->total > LIMIT_DEBUG_FILE_BYTES)
    return refuse(why, -EOVERFLOW, "file of %llu bytes is over LIMIT_DEBUG_FILE_BYTES",
                  (unsigned long long)piece->total);
  if (piece->bytes.len == 0) return refuse(why, -EBADMSG, "empty piece");
  if (piece->offset > piece->total || piece->bytes.len > piece->total - piece->offset)
    return refuse(why, -EBADMSG, "piece reaches beyond the end of the file");
  bool is_hash_known = piece->sha256.len == SHA256_BYTES;
  if (!is_hash_known && (piece->board != NULL || piece->sha256.len != 0))
    return refuse(why, -EBADMSG, "hash of %zu bytes", piece->sha256.len);
  if (piece->offset > 0) return 0;
  size_t len = piece->bytes.len < sizeof elf_magic ? piece->bytes.len : sizeof elf_magic;
  if (memcmp(piece->bytes.data, elf_magic, len) == 0 || map_text_is(piece->bytes)) return 0;
  return refuse(why, -EBADMSG, "neither an ELF file nor a list of symbols");
}

/* Evicts unused files until BYTES more fit. */
static bool make_room(sqlite3 *db, const struct debug_folder *folder, uint64_t bytes) {
  struct catalogue_file idle;
  int64_t before_s = catalogue_now_s() - IDLE_S;
  while (catalogue_bytes(db) + bytes > STORE_BYTES_MAX) {
    if (catalogue_idle(db, before_s, &idle) != 0) return false;
    if (catalogue_remove_file(db, span_of(idle.sha256, sizeof idle.sha256)) != 0) return false;
    debug_folder_remove(folder, idle.sha256);
  }
  return true;
}

int debug_admission_room(sqlite3 *db, const struct debug_folder *folder,
                         const struct debug_piece *piece, struct debug_why why) {
  struct catalogue_file file;
  if (piece->sha256.len > 0 && catalogue_find(db, piece->sha256, &file) == 0 &&
      file.quality == DEBUG_BAD)
    return refuse(why, -EBADMSG, "refused before: %s", file.reason);
  if (piece->board != NULL) {
    if (catalogue_files_of(db, piece->board) >= BOARD_FILES_MAX)
      return refuse(why, -EOVERFLOW, "this board has sent %d files (BOARD_FILES_MAX)",
                    BOARD_FILES_MAX);
    if (catalogue_bytes_of(db, piece->board) + piece->total > BOARD_BYTES_MAX)
      return refuse(why, -EOVERFLOW, "this board's files would take over %llu bytes",
                    BOARD_BYTES_MAX);
  }
  if (!make_room(db, folder, piece->total))
    return refuse(why, -EOVERFLOW, "the store is full: %llu bytes, all in use", STORE_BYTES_MAX);
  return 0;
}

static int check_known(const struct catalogue_file *file, struct span id, struct debug_why why) {
  if (file->quality == DEBUG_BAD) return refuse(why, -EBADMSG, "refused before: %s", file->reason);
  if (file->quality == DEBUG_NONE || catalogue_is_file_of(file, id)) return 0;
  return refuse(why, -EBADMSG, "it is another module's file");
}

int debug_admission_take(sqlite3 *db, const struct debug_folder *folder, const char *staged,
                         const struct debug_piece *piece, const uint8_t sha256[32],
                         struct debug_why why) {
  char path[DEBUG_PATH_BYTES];
  struct catalogue_file file;
  int error = catalogue_find(db, span_of(sha256, SHA256_BYTES), &file);
  if (error == -ENOENT) {
    file = (struct catalogue_file){.bytes = piece->total};
    memcpy(file.sha256, sha256, SHA256_BYTES);
    error = 0;
  } else if (error == 0) {
    error = check_known(&file, piece->id, why);
  }
  debug_folder_file(folder, sha256, path);
  if (error == 0 && rename(staged, path) != 0) error = -errno;
  if (error != 0) unlink(staged);
  if (error == 0)
    error = catalogue_add_file(db, &file, piece->board != NULL ? piece->board : "", piece->id);
  if (error != 0 && error != -EBADMSG) refuse(why, error, "cannot be kept: %s", strerror(-error));
  return error;
}
