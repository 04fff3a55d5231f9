/* SPDX-License-Identifier: Apache-2.0 */
/* (board, module, address) -> name.

   Two steps, remembered apart.  Which index a board's module has depends on what the board may see
   and changes when files arrive: it is noted with the store's generation, so that one comparison
   tells whether the note still holds, be it "none".  The index itself depends only on the file's
   bytes, so boards with the same program share it.

   An index that was opened once stays open.  Names are handed out as pointers into it and may be
   in use anywhere; its pages are the kernel's to drop.  There is a limit, far above what a store
   of debug files holds; beyond it newcomers have no names, and the log says so. */
#include "symbolizer.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/table.h"
#include "index_maker.h"
#include "module_cache.h"
#include "symbol/index_file.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  WORKER_MS_MAX = 30000, /* for one file; a big one takes under a second */
  INDEXES_MAX = 16384,
  UNREAD_FILES_MAX = 16, /* of one module, read in one go */
  RETRY_S = 30,          /* after no worker could be had */
};

struct loaded_index {
  uint8_t sha256[32];
  struct index_file file;
};

struct symbolizer {
  struct debug_store *debug;
  struct nursery *nursery;
  pthread_mutex_t lock;
  struct module_cache *modules; /* notes with a struct loaded_index, or NULL: no names */
  struct loaded_index *loaded[INDEXES_MAX];
  uint32_t loaded_count;
  struct table by_sha256; /* its first 8 bytes -> place in loaded */
};

int symbolizer_open(struct debug_store *debug, struct symbolizer **ret, char *error,
                    size_t error_len) {
  struct symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
  int failure = -ENOMEM;
  if (symbolizer != NULL) {
    symbolizer->debug = debug;
    pthread_mutex_init(&symbolizer->lock, NULL);
    symbolizer->modules = module_cache_new();
    if (symbolizer->modules != NULL) failure = nursery_open(WORKER_MS_MAX, &symbolizer->nursery);
  }
  if (failure == 0) {
    *ret = symbolizer;
    return 0;
  }
  snprintf(error, error_len, "symbol worker: cannot be started: %s", strerror(-failure));
  symbolizer_close(symbolizer);
  return failure;
}

void symbolizer_close(struct symbolizer *symbolizer) {
  if (symbolizer == NULL) return;
  nursery_close(symbolizer->nursery);
  for (uint32_t i = 0; i < symbolizer->loaded_count; i++) {
    index_file_close(&symbolizer->loaded[i]->file);
    free(symbolizer->loaded[i]);
  }
  table_fini(&symbolizer->by_sha256);
  module_cache_free(symbolizer->modules);
  pthread_mutex_destroy(&symbolizer->lock);
  free(symbolizer);
}

/* ---- preparing ---- */

/* Has every file that BOARD sent for module ID, and nobody read, read. */
static int read_unread(struct symbolizer *symbolizer, const char *board, struct span id) {
  struct debug_file file;
  for (int i = 0; i < UNREAD_FILES_MAX; i++) {
    if (debug_store_find_unread(symbolizer->debug, board, id, &file) != 0) return i;
    int error = index_maker_make(symbolizer->debug, symbolizer->nursery, &file);
    if (error != 0) return error;
  }
  return UNREAD_FILES_MAX;
}

int symbolizer_prepare(struct symbolizer *symbolizer, const char *board, struct span id) {
  struct debug_file file;
  char why[LIMIT_VALUE_BYTES];
  int count = read_unread(symbolizer, board, id);
  if (count < 0) return count;
  int error = debug_store_judge(symbolizer->debug, board, id, why, sizeof why);
  return error == -EBADMSG ? error : debug_store_find(symbolizer->debug, board, id, &file);
}

/* ---- indexes ---- */

static uint64_t sha256_key(const uint8_t sha256[32]) {
  uint64_t key;
  memcpy(&key, sha256, sizeof key);
  return key;
}

/* With the lock held. */
static struct loaded_index *find_loaded(struct symbolizer *symbolizer, const uint8_t sha256[32]) {
  uint32_t cursor;
  uint64_t key = sha256_key(sha256);
  uint32_t at = table_find(&symbolizer->by_sha256, key, &cursor);
  while (at != TABLE_NONE && memcmp(symbolizer->loaded[at]->sha256, sha256, 32) != 0)
    at = table_next(&symbolizer->by_sha256, key, &cursor);
  return at == TABLE_NONE ? NULL : symbolizer->loaded[at];
}

/* Adds FRESH, which somebody else may have added meanwhile.  Returns which one counts, or NULL. */
static struct loaded_index *keep_loaded(struct symbolizer *symbolizer, struct loaded_index *fresh) {
  pthread_mutex_lock(&symbolizer->lock);
  struct loaded_index *kept = find_loaded(symbolizer, fresh->sha256);
  uint32_t count = symbolizer->loaded_count;
  if (kept == NULL && count < INDEXES_MAX &&
      table_add(&symbolizer->by_sha256, sha256_key(fresh->sha256), count) == 0) {
    symbolizer->loaded[symbolizer->loaded_count++] = fresh;
    kept = fresh;
    if (symbolizer->loaded_count == INDEXES_MAX)
      log_warn("symbols-full %u indexes are open: further files stay without names until restart",
               (unsigned)INDEXES_MAX);
  }
  pthread_mutex_unlock(&symbolizer->lock);
  return kept;
}

/* Opens FILE's index, making it anew when it is lost, torn or of an older version. */
static int open_index(struct symbolizer *symbolizer, const struct debug_file *file,
                      struct index_file *ret) {
  int error = index_file_open(file->index_path, ret);
  if (error == 0 && symbol_index_verify(&ret->index) == 0) return 0;
  if (error == 0) index_file_close(ret);
  error = index_maker_make(symbolizer->debug, symbolizer->nursery, file);
  return error != 0 ? error : index_file_open(file->index_path, ret);
}

static int load(struct symbolizer *symbolizer, const struct debug_file *file,
                struct loaded_index **ret) {
  pthread_mutex_lock(&symbolizer->lock);
  *ret = find_loaded(symbolizer, file->sha256);
  pthread_mutex_unlock(&symbolizer->lock);
  if (*ret != NULL) return 0;
  struct loaded_index *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return -ENOMEM;
  memcpy(fresh->sha256, file->sha256, sizeof fresh->sha256);
  int error = open_index(symbolizer, file, &fresh->file);
  if (error == 0) {
    *ret = keep_loaded(symbolizer, fresh);
    if (*ret == fresh) return 0;
    index_file_close(&fresh->file);
  }
  free(fresh);
  return error;
}

/* ---- finding ---- */

/* The index of BOARD's module ID into RET, NULL when it has none.  Returns 0, or -errno when that
   is not known for now. */
static int look_up(struct symbolizer *symbolizer, const char *board, struct span id,
                   struct loaded_index **ret) {
  struct debug_file file;
  int count = read_unread(symbolizer, board, id);
  if (count < 0) return count;
  int error = debug_store_find(symbolizer->debug, board, id, &file);
  if (error == -ENOENT) return 0;
  return error != 0 ? error : load(symbolizer, &file, ret);
}

static struct loaded_index *resolve(struct symbolizer *symbolizer, const char *board,
                                    struct span id) {
  struct loaded_index *found = NULL;
  uint64_t generation = debug_store_generation(symbolizer->debug); /* before the look */
  int error = look_up(symbolizer, board, id, &found);
  if (error != 0)
    log_warn("symbols-unread %s: a module's file cannot be read now: %s",
             board != NULL ? board : "operator", strerror(-error));
  struct module_note note = {.generation = generation, .value = found, .until_ns = UINT64_MAX};
  if (error != 0) note.until_ns = clock_monotonic_ns() + RETRY_S * NS_PER_SECOND;
  pthread_mutex_lock(&symbolizer->lock);
  module_cache_add(symbolizer->modules, board != NULL ? board : "", id, &note);
  pthread_mutex_unlock(&symbolizer->lock);
  return found;
}

static struct loaded_index *find_index(struct symbolizer *symbolizer, const char *board,
                                       struct span id) {
  uint64_t generation = debug_store_generation(symbolizer->debug);
  struct loaded_index *found = NULL;
  pthread_mutex_lock(&symbolizer->lock);
  const struct module_note *note =
      module_cache_find(symbolizer->modules, board != NULL ? board : "", id);
  bool is_valid = note != NULL && note->generation == generation &&
                  (note->until_ns == UINT64_MAX || clock_monotonic_ns() < note->until_ns);
  if (is_valid) found = note->value;
  pthread_mutex_unlock(&symbolizer->lock);
  return is_valid ? found : resolve(symbolizer, board, id);
}

int symbolizer_find(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol *ret) {
  struct symbol_match match;
  struct loaded_index *loaded = find_index(symbolizer, board, id);
  if (loaded == NULL || symbol_index_find(&loaded->file.index, address, &match) != 0)
    return -ENOENT;
  *ret = (struct symbol){.name = match.name, .start = match.start, .size = match.size};
  return 0;
}

int symbolizer_chain(struct symbolizer *symbolizer, const char *board, struct span id,
                     uint64_t address, struct symbol_frame *frames) {
  struct loaded_index *loaded = find_index(symbolizer, board, id);
  if (loaded == NULL) return -ENOENT;
  return symbol_index_chain(&loaded->file.index, address, frames);
}
