/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files: requests to boards, uploads, and visibility.

   This process only moves and hashes bytes. An ELF file's own data, above all its build-id, is
   known only after a sandboxed worker has read it. So a complete file waits as "unread" under the
   module that its sender named, visible only to that sender.

   Requests to boards are in debug_wishes.c.

   One lock protects one database connection. A whole file is hashed outside the lock, under a name
   that no other piece can be written to. */
#include "debug_store.h"

#include "common/log.h"
#include "debug_admission.h"
#include "debug_catalogue.h"
#include "debug_db.h"
#include "debug_partial.h"
#include "debug_store_dwarf.h"
#include "debug_store_parts.h"
#include "debug_wishes.h"
#include "dwarf_list.h"
#include "module_changes.h"
#include "rival_file.h"
#include "sqlite/marks.h"
#include "symbol/index_format.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  DAY_S = 24 * 60 * 60,
  NONSENSE_S = 60 * 60,  /* pause after a board sent an invalid or another module's file */
  FORGET_S = 30 * DAY_S, /* a rejected file may be tried again */
  PARTIAL_S = 7 * DAY_S, /* limit of an abandoned upload */
};

_Static_assert(DEBUG_PATH_BYTES == sizeof((struct debug_file *)0)->path, "paths fit");

struct debug_store {
  pthread_mutex_t lock;
  sqlite3 *db;
  struct debug_folder folder;
  uint64_t set_aside;    /* number of catalogues set aside at the start */
  const char *loss;      /* problem of the catalogue at the start, or NULL */
  bool is_older;         /* than the last catalogue of this folder */
  uint64_t staged_count; /* makes unique names of files that are being hashed */
  uint8_t hurried[32];   /* file to read debug information of first; zeros: none */
  struct module_changes *changes;
  struct debug_wishes wishes;
};

sqlite3 *debug_store_lock(struct debug_store *store) {
  pthread_mutex_lock(&store->lock);
  return store->db;
}

void debug_store_unlock(struct debug_store *store) {
  pthread_mutex_unlock(&store->lock);
}

const char *debug_store_loss(const struct debug_store *store) {
  return store->loss;
}

uint64_t debug_store_set_aside(const struct debug_store *store) {
  return store->set_aside;
}

void debug_store_path(const struct debug_store *store, const uint8_t sha256[32],
                      char path[DEBUG_PATH_BYTES]) {
  debug_folder_file(&store->folder, sha256, path);
}

struct debug_wishes *debug_store_wishes(struct debug_store *store) {
  return &store->wishes;
}

const struct debug_folder *debug_store_folder(const struct debug_store *store) {
  return &store->folder;
}

void debug_store_index_path(const struct debug_store *store, const uint8_t sha256[32],
                            char path[DEBUG_PATH_BYTES]) {
  debug_folder_index(&store->folder, sha256, false, path);
}

bool debug_quality_is_whole(enum debug_quality quality) {
  return quality >= DEBUG_SYMTAB || quality == DEBUG_MAP;
}

const char *debug_quality_name(enum debug_quality quality) {
  switch (quality) {
  case DEBUG_SUPPLEMENT:
    return "supplement";
  case DEBUG_BAD:
    return "bad";
  case DEBUG_BOUNDS:
    return "bounds";
  case DEBUG_DYNSYM:
    return "dynsym";
  case DEBUG_MAP:
    return "map";
  case DEBUG_SYMTAB:
    return "symtab";
  case DEBUG_DWARF:
    return "dwarf";
  default:
    return "none";
  }
}

/* ---- opening ---- */

static bool is_known(void *context, const uint8_t sha256[32]) {
  struct debug_store *store = context;
  struct catalogue_file file;
  return catalogue_find(store->db, span_of(sha256, 32), &file) == 0 && file.quality != DEBUG_BAD;
}

/* Deletes rows of files that are missing from the folder, so that the file is requested again. */
static void forget_lost_files(struct debug_store *store) {
  sqlite3_stmt *row;
  if (debug_db_query(store->db, &row, "SELECT sha256 FROM file WHERE quality <> 1", "") != 0)
    return;
  while (sqlite3_step(row) == SQLITE_ROW) {
    char path[DEBUG_PATH_BYTES];
    struct span sha256 = debug_db_bytes(row, 0);
    if (sha256.len != 32) continue;
    debug_folder_file(&store->folder, sha256.data, path);
    if (access(path, F_OK) != 0) catalogue_remove_file(store->db, sha256);
  }
  debug_db_end(row);
}

/* Makes folder and database agree after a crash. Files that an older reader rejected become
   readable again. */
static int tidy(struct debug_store *store) {
  debug_db_run(store->db, "DELETE FROM file WHERE quality = 1 AND (reader <> ?1 OR added_s < ?2)",
               "ii", (int64_t)INDEX_VERSION, catalogue_now_s() - FORGET_S);
  debug_db_run(store->db, "DELETE FROM origin WHERE sha256 NOT IN (SELECT sha256 FROM file)", "");
  forget_lost_files(store);
  debug_db_run(store->db, "DELETE FROM made WHERE sha256 NOT IN (SELECT sha256 FROM file)", "");
  debug_db_run(store->db, "DELETE FROM refer WHERE sha256 NOT IN (SELECT sha256 FROM file)", "");
  dwarf_list_tidy(store->db);
  debug_partial_sweep(store->db, &store->folder, catalogue_now_s() - PARTIAL_S);
  char aside[DEBUG_PATH_BYTES];
  int moved = debug_folder_sweep(&store->folder, is_known, store, store->is_older, aside);
  if (moved > 0) {
    store->loss = "is an older copy: files that it does not know are set aside (debug.corrupt-N)";
    log_error("names-lost %s.db: %d files that it does not know are set aside, as %s: it is an "
              "older copy; boards are asked for theirs again, what an operator sent is to be "
              "uploaded from there",
              store->folder.root, moved, aside);
  }
  return moved < 0 ? moved : 0;
}

/* Only the catalogue records which boards' samples a file may name. Without it the files are
   unusable, so folder and database are set aside, and boards are asked for their files again. */
static int begin_anew(struct debug_store *store, const char *dir, const char *why) {
  char aside[DEBUG_PATH_BYTES];
  int failure = debug_folder_set_aside(&store->folder, aside);
  if (failure != 0) return failure;
  store->set_aside++;
  store->loss = why;
  log_error(
      "names-damaged %s.db: %s: set aside with the files it names, as %s: boards are asked "
      "for theirs again; what an operator sent is to be uploaded again, from there if need be",
      store->folder.root, why, aside);
  return debug_folder_init(&store->folder, dir);
}

/* Whether DIR has a catalogue without tables. */
static bool is_empty(const char *dir) {
  sqlite3_stmt *row = NULL;
  sqlite3 *db = NULL;
  bool has_none = false;
  if (marks_open(dir, "debug.db", &db) != 0) return false;
  if (sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_schema", -1, &row, NULL) == SQLITE_OK)
    has_none = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0) == 0;
  sqlite3_finalize(row);
  sqlite3_close(db);
  return has_none;
}

/* Stores the number of this start durably: a checkpoint flushes. Returns whether it succeeded. */
static bool count_start(sqlite3 *db, uint64_t generation) {
  return marks_write(db, MARKS_GENERATION, generation) == 0 &&
         sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) == SQLITE_OK;
}

void debug_store_mark(struct debug_store *store, const char *dir) {
  uint64_t here = 0, folder = 0, starts = 0, noted = 0;
  if (marks_peek(dir, "landing.db", MARKS_STORE, &folder) != 1) return;
  marks_peek(dir, "landing.db", "debug.db", &noted);
  pthread_mutex_lock(&store->lock);
  if (marks_read(store->db, MARKS_STORE, &here) == 0 &&
      sqlite3_exec(store->db, MARKS_SCHEMA, NULL, NULL, NULL) == SQLITE_OK)
    marks_write(store->db, MARKS_STORE, folder); /* a failure is retried at the next start */
  marks_read(store->db, MARKS_GENERATION, &starts);
  if (starts < noted) starts = noted;
  marks_note(dir, "landing.db", "debug.db", count_start(store->db, starts + 1) ? starts + 1 : 1);
  pthread_mutex_unlock(&store->lock);
}

/* Commits are not flushed, so a count of changes cannot distinguish an older copy from the state
   after a power cut. So starts are counted, first in the catalogue. A backup has the count of its
   start. */
static bool is_older(const char *dir) {
  uint64_t noted = 0, starts = 0;
  return marks_peek(dir, "landing.db", "debug.db", &noted) == 1 &&
         marks_peek(dir, "debug.db", MARKS_GENERATION, &starts) >= 0 && starts < noted &&
         noted > 1; /* 1: written by a version that did not count */
}

const char *debug_store_find_loss(const char *dir) {
  uint64_t here = 0, landing = 0, rights = 0, was_there = 0;
  int row = marks_peek(dir, "debug.db", MARKS_STORE, &here);
  bool is_known = marks_peek(dir, "landing.db", MARKS_STORE, &landing) == 1 &&
                  marks_peek(dir, MARKS_ACCESS, MARKS_STORE, &rights) == 1;
  if (row == 1 && is_known && here != landing && here != rights) return "was another collector's";
  return marks_peek(dir, "landing.db", "debug.db", &was_there) == 1 &&
                 (row == -ENOENT || is_empty(dir))
             ? "was gone or empty"
             : NULL;
}

static int open_catalogue(struct debug_store *store, const char *dir, char *error,
                          size_t error_len) {
  char path[DEBUG_PATH_BYTES];
  const char *why = debug_store_find_loss(dir);
  store->is_older = why == NULL && is_older(dir);
  snprintf(path, sizeof path, "%s.db", store->folder.root);
  if (why == NULL && access(path, F_OK) != 0 && debug_folder_has_files(&store->folder))
    why = "was gone or empty";
  int failure = why != NULL ? -EUCLEAN : debug_db_open(path, &store->db, error, error_len);
  if (failure != -EUCLEAN) return failure;
  failure = begin_anew(store, dir, why != NULL ? why : "was damaged");
  if (failure == 0) return debug_db_open(path, &store->db, error, error_len);
  snprintf(error, error_len, "%s: is damaged and cannot be set aside: %s", path,
           strerror(-failure));
  return failure;
}

static int open_parts(struct debug_store *store, const char *dir, char *error, size_t error_len) {
  int failure = debug_folder_init(&store->folder, dir);
  if (failure != 0) {
    snprintf(error, error_len, "%s/debug: %s", dir, strerror(-failure));
    return failure;
  }
  failure = open_catalogue(store, dir, error, error_len);
  if (failure != 0) return failure;
  store->changes = module_changes_new();
  failure = store->changes == NULL ? -ENOMEM : tidy(store);
  if (failure != 0) snprintf(error, error_len, "%s: %s", store->folder.root, strerror(-failure));
  return failure;
}

int debug_store_open(const char *dir, struct debug_store **ret, char *error, size_t error_len) {
  struct debug_store *store = calloc(1, sizeof *store);
  if (store == NULL) {
    snprintf(error, error_len, "%s/debug: out of memory", dir);
    return -ENOMEM;
  }
  pthread_mutex_init(&store->lock, NULL);
  int failure = debug_wishes_init(&store->wishes);
  if (failure != 0)
    snprintf(error, error_len, "%s/debug: out of memory", dir);
  else
    failure = open_parts(store, dir, error, error_len);
  if (failure != 0) {
    debug_store_close(store);
    return failure;
  }
  *ret = store;
  return 0;
}

void debug_store_close(struct debug_store *store) {
  if (store == NULL) return;
  debug_db_close(store->db);
  debug_wishes_fini(&store->wishes);
  module_changes_free(store->changes);
  pthread_mutex_destroy(&store->lock);
  free(store);
}

uint64_t debug_store_generation(const struct debug_store *store, struct span id) {
  return module_changes_count(store->changes, id);
}

void debug_store_changed(struct debug_store *store, const uint8_t sha256[32]) {
  static const char sql[] = "SELECT build_id FROM file WHERE sha256 = ?1"
                            " UNION SELECT module FROM origin WHERE sha256 = ?1";
  sqlite3_stmt *row;
  module_changes_add(store->changes, span_of(sha256, 32));
  if (debug_db_query(store->db, &row, sql, "b", span_of(sha256, 32)) != 0) return;
  while (sqlite3_step(row) == SQLITE_ROW)
    module_changes_add(store->changes, debug_db_bytes(row, 0));
  debug_db_end(row);
}

/* ---- files that boards cannot send ---- */

static bool is_usable_name(const char *board, struct span id) {
  return strlen(board) <= LIMIT_NAME_BYTES && id.len > 0 && id.len <= LIMIT_MODULE_ID_BYTES;
}

void debug_store_unavailable(struct debug_store *store, const char *board, struct span id,
                             const char *reason) {
  int64_t pause_s = debug_wishes_pause_s(&store->wishes, board, id);
  pthread_mutex_lock(&store->lock);
  catalogue_refuse_module(store->db, board, id, reason, catalogue_now_s() + pause_s);
  debug_wishes_forget(&store->wishes, board, id);
  pthread_mutex_unlock(&store->lock);
}

/* ---- lookups ---- */

void debug_store_describe(const struct debug_store *store, const struct catalogue_file *file,
                          struct debug_file *ret) {
  debug_folder_file(&store->folder, file->sha256, ret->path);
  debug_folder_index(&store->folder, file->sha256, false, ret->index_path);
  debug_folder_index(&store->folder, file->sha256, true, ret->dwarf_path);
  memcpy(ret->sha256, file->sha256, sizeof ret->sha256);
  ret->quality = file->quality;
  ret->bytes = file->bytes;
  ret->sender = file->sender;
}

int debug_store_find(struct debug_store *store, const char *board, struct span id,
                     struct debug_file *ret) {
  struct catalogue_file file;
  pthread_mutex_lock(&store->lock);
  int error = catalogue_best(store->db, board, id, &file);
  if (error == -ENOENT) error = catalogue_unread(store->db, board, id, &file);
  if (error == -ENOENT) error = catalogue_supplement(store->db, id, &file);
  pthread_mutex_unlock(&store->lock);
  if (error == 0) debug_store_describe(store, &file, ret);
  return error;
}

int debug_store_public(struct debug_store *store, struct span id,
                       struct debug_file ret[DEBUG_PUBLIC_MAX], char path[LIMIT_PATH_BYTES + 1]) {
  struct catalogue_file files[DEBUG_PUBLIC_MAX];
  if (!is_usable_name("", id)) return 0;
  pthread_mutex_lock(&store->lock);
  int count = catalogue_public(store->db, id, files, DEBUG_PUBLIC_MAX);
  catalogue_module_path(store->db, id, path, LIMIT_PATH_BYTES + 1);
  pthread_mutex_unlock(&store->lock);
  for (int i = 0; i < count; i++) debug_store_describe(store, &files[i], &ret[i]);
  return count;
}

int debug_store_sources(struct debug_store *store, const char *board, struct span id,
                        struct debug_file *files) {
  struct catalogue_file found[DEBUG_SOURCES_MAX];
  pthread_mutex_lock(&store->lock);
  int count = catalogue_sources(store->db, board, id, found);
  pthread_mutex_unlock(&store->lock);
  for (int i = 0; i < count; i++) debug_store_describe(store, &found[i], &files[i]);
  return count;
}

int debug_store_find_unread(struct debug_store *store, const char *board, struct span id,
                            struct debug_file *ret) {
  struct catalogue_file file;
  pthread_mutex_lock(&store->lock);
  int error = catalogue_unread(store->db, board, id, &file);
  pthread_mutex_unlock(&store->lock);
  if (error == 0) debug_store_describe(store, &file, ret);
  return error;
}

int debug_store_list(struct debug_store *store,
                     int (*on_module)(void *context, const struct debug_module *module),
                     void *context) {
  pthread_mutex_lock(&store->lock);
  int error = catalogue_each_module(store->db, on_module, context);
  pthread_mutex_unlock(&store->lock);
  return error;
}

struct file_listing {
  int (*on_file)(void *context, const struct debug_known *file);
  void *context;
};

static int on_listed(void *context, const struct catalogue_file *file) {
  const struct file_listing *listing = context;
  struct debug_known known = {.id = span_of(file->build_id, file->build_id_len),
                              .bytes = file->bytes,
                              .quality = file->quality,
                              .is_seen = file->is_seen};
  memcpy(known.sha256, file->sha256, sizeof known.sha256);
  return listing->on_file(listing->context, &known);
}

int debug_store_list_files(struct debug_store *store,
                           int (*on_file)(void *context, const struct debug_known *file),
                           void *context) {
  struct file_listing listing = {on_file, context};
  pthread_mutex_lock(&store->lock);
  int error = catalogue_each_operator_file(store->db, on_listed, &listing);
  pthread_mutex_unlock(&store->lock);
  return error;
}

/* ---- debug information ---- */

int debug_store_await_dwarf(struct debug_store *store, const uint8_t sha256[32]) {
  pthread_mutex_lock(&store->lock);
  int error = dwarf_list_add(store->db, span_of(sha256, 32));
  pthread_mutex_unlock(&store->lock);
  return error;
}

int debug_store_next_dwarf(struct debug_store *store, struct debug_file *ret) {
  struct catalogue_file file;
  uint8_t sha256[32];
  pthread_mutex_lock(&store->lock);
  int error = dwarf_list_next(store->db, span_of(store->hurried, 32), sha256);
  if (error == 0) error = catalogue_find(store->db, span_of(sha256, 32), &file);
  pthread_mutex_unlock(&store->lock);
  if (error != 0) return error;
  debug_store_describe(store, &file, ret);
  return 0;
}

void debug_store_hurry(struct debug_store *store, const uint8_t sha256[32]) {
  pthread_mutex_lock(&store->lock);
  if (dwarf_list_waits(store->db, span_of(sha256, sizeof store->hurried)))
    memcpy(store->hurried, sha256, sizeof store->hurried);
  pthread_mutex_unlock(&store->lock);
}

void debug_store_postpone(struct debug_store *store, const uint8_t sha256[32]) {
  pthread_mutex_lock(&store->lock);
  memset(store->hurried, 0, sizeof store->hurried);
  dwarf_list_postpone(store->db, span_of(sha256, 32));
  pthread_mutex_unlock(&store->lock);
}

int debug_store_set_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *lacks) {
  struct span key = span_of(sha256, 32);
  pthread_mutex_lock(&store->lock);
  int error = catalogue_set_quality(store->db, key, DEBUG_DWARF, lacks);
  if (error == 0) error = dwarf_list_remove(store->db, key);
  debug_store_changed(store, sha256);
  pthread_mutex_unlock(&store->lock);
  return error;
}

int debug_store_refuse_dwarf(struct debug_store *store, const uint8_t sha256[32], const char *why,
                             bool is_lasting) {
  pthread_mutex_lock(&store->lock);
  struct span key = span_of(sha256, 32);
  int error =
      is_lasting ? dwarf_list_refuse(store->db, key, why) : dwarf_list_leave(store->db, key, why);
  debug_store_changed(store, sha256);
  pthread_mutex_unlock(&store->lock);
  return error;
}

/* ---- uploads ---- */

/* Writes PIECE. After the last piece, moves the upload to STAGED, where no other piece can change
   it. */
static int write_piece(struct debug_store *store, const struct debug_piece *piece,
                       char staged[DEBUG_PATH_BYTES], struct debug_why why) {
  char key[DEBUG_KEY_BYTES], name[DEBUG_KEY_BYTES + 24], path[DEBUG_PATH_BYTES];
  int error = 0;
  if (piece->offset == 0) error = debug_admission_room(store->db, &store->folder, piece, why);
  if (error != 0) return error;
  int result = debug_partial_write(store->db, &store->folder, piece, why.text, why.len);
  if (result != 1) return result;
  debug_partial_key(piece, key);
  snprintf(name, sizeof name, "%s.%llu", key, (unsigned long long)++store->staged_count);
  debug_folder_partial(&store->folder, key, path);
  debug_folder_partial(&store->folder, name, staged);
  if (rename(path, staged) != 0) return -errno;
  debug_partial_remove(store->db, &store->folder, key);
  return 1;
}

/* Rejects an operator's file that contradicts another operator's file of the same build-id, even if
   boards have sent the same bytes. */
static int refuse_rival(struct debug_store *store, const struct debug_piece *piece,
                        const uint8_t sha256[32], struct debug_why why) {
  uint8_t rival[32];
  if (piece->board != NULL || rival_file_find_of_new(store, sha256, rival) != 0) return 0;
  rival_file_print(rival, why.text, why.len);
  return -EBADMSG;
}

static int take_staged(struct debug_store *store, const struct debug_piece *piece,
                       const char *staged, struct debug_why why) {
  uint8_t sha256[32];
  int error = debug_folder_hash(staged, sha256);
  if (error != 0) {
    snprintf(why.text, why.len, "cannot be read back: %s", strerror(-error));
  } else if (piece->sha256.len > 0 && !span_is_equal(piece->sha256, span_of(sha256, 32))) {
    snprintf(why.text, why.len, "the bytes do not have the hash that was announced");
    error = -EBADMSG;
  }
  if (error == 0) error = refuse_rival(store, piece, sha256, why);
  if (error != 0) {
    unlink(staged);
    return error;
  }
  pthread_mutex_lock(&store->lock);
  error = debug_admission_take(store->db, &store->folder, staged, piece, sha256, why);
  if (error == 0) debug_store_changed(store, sha256);
  pthread_mutex_unlock(&store->lock);
  return error;
}

/* Suspends requests to the sender of a rejected file. */
static void refuse_sender(struct debug_store *store, const struct debug_piece *piece, int error,
                          struct debug_why why) {
  if (piece->board == NULL || !is_usable_name(piece->board, piece->id)) return;
  if (error != -EBADMSG && error != -EOVERFLOW) return;
  int64_t pause_s = error == -EOVERFLOW ? DEBUG_NO_BETTER_S : NONSENSE_S;
  pthread_mutex_lock(&store->lock);
  catalogue_refuse_module(store->db, piece->board, piece->id, why.text,
                          catalogue_now_s() + pause_s);
  debug_wishes_forget(&store->wishes, piece->board, piece->id);
  pthread_mutex_unlock(&store->lock);
}

int debug_store_write(struct debug_store *store, const struct debug_piece *piece, char *why,
                      size_t why_len) {
  char staged[DEBUG_PATH_BYTES];
  struct debug_why reason = {why, why_len};
  int result = debug_admission_check(piece, reason);
  if (result == 0) {
    pthread_mutex_lock(&store->lock);
    result = write_piece(store, piece, staged, reason);
    if (piece->board != NULL) debug_wishes_forget(&store->wishes, piece->board, piece->id);
    pthread_mutex_unlock(&store->lock);
  }
  if (result == 1) {
    int error = take_staged(store, piece, staged, reason);
    if (error != 0) result = error;
  }
  if (result == -ESPIPE) /* an honest mistake: the board is asked again at once */
    return piece->board != NULL ? -EBADMSG : -ESPIPE;
  if (result < 0) refuse_sender(store, piece, result, reason);
  return result;
}
