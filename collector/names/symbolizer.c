/* SPDX-License-Identifier: Apache-2.0 */
/* (board, module, address) -> names.

   Two steps with separate caches. The files that name a board's module depend on the board's view
   and change when files arrive. They are cached with the store's generation, so one comparison
   validates an entry, even the entry "none". An index depends only on the file's bytes, so boards
   with the same program share it. The name of an address depends on these indexes alone.

   No query waits for a file. A query for an unread file requests it: first its symbol table, then
   its debug information. Each raises the generation of its module, so the next query finds the
   better names. */
#include "symbolizer.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/meter.h"
#include "common/table.h"
#include "debug_store_dwarf.h"
#include "debug_unread.h"
#include "deep_reader.h"
#include "index_shelf.h"
#include "module_cache.h"
#include "name_sources.h"
#include "symbol_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  UNREAD_FILES_MAX = 16, /* of one module, read in one call */
  UNREAD_LEFT_MAX = 256, /* by the previous collector; further ones are read on request */
  RETRY_S = 30,          /* until a missing file is looked up again */
  SOURCES_MAX = 65536,   /* different sets of files since the start */
};

struct symbolizer {
  struct debug_store *debug;
  struct translator_pool *translators; /* or NULL */
  struct deep_reader *deep;
  struct symbol_reader *reader;
  struct index_shelf *shelf;
  pthread_mutex_t lock;
  struct module_cache *modules;  /* entries with a struct name_sources, or NULL: no names */
  struct name_sources **sources; /* each set of files once, until the end: entries point to them */
  uint32_t source_count, source_room;
  struct table by_content;
};

int symbolizer_open(struct debug_store *debug, struct symbolizer **ret, char *error,
                    size_t error_len) {
  struct symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
  int failure = -ENOMEM;
  if (symbolizer != NULL) {
    symbolizer->debug = debug;
    pthread_mutex_init(&symbolizer->lock, NULL);
    symbolizer->modules = module_cache_new();
    symbolizer->shelf = index_shelf_new();
    bool is_whole = symbolizer->modules != NULL && symbolizer->shelf != NULL;
    if (is_whole) failure = deep_reader_open(debug, &symbolizer->deep);
    if (failure == 0) failure = symbol_reader_open(debug, symbolizer->deep, &symbolizer->reader);
  }
  if (failure == 0) {
    *ret = symbolizer;
    return 0;
  }
  snprintf(error, error_len, "symbol worker: cannot be started: %s",
           failure == -ENOENT ? "this installation has no lib/fleetprof/fleetprof-symbols"
                              : strerror(-failure));
  symbolizer_close(symbolizer);
  return failure;
}

void symbolizer_close(struct symbolizer *symbolizer) {
  if (symbolizer == NULL) return;
  symbol_reader_close(symbolizer->reader); /* it wakes deep */
  deep_reader_close(symbolizer->deep);
  index_shelf_free(symbolizer->shelf);
  for (uint32_t i = 0; i < symbolizer->source_count; i++) free(symbolizer->sources[i]);
  free(symbolizer->sources);
  table_fini(&symbolizer->by_content);
  module_cache_free(symbolizer->modules);
  pthread_mutex_destroy(&symbolizer->lock);
  free(symbolizer);
}

void symbolizer_start(struct symbolizer *symbolizer) {
  struct debug_file *files = calloc(UNREAD_LEFT_MAX, sizeof *files);
  int count = files != NULL ? debug_unread_list(symbolizer->debug, files, UNREAD_LEFT_MAX) : 0;
  for (int i = 0; i < count; i++) symbol_reader_request(symbolizer->reader, &files[i]);
  free(files);
  deep_reader_wake(symbolizer->deep);
}

bool symbolizer_settle(struct symbolizer *symbolizer, unsigned ms) {
  return symbol_reader_settle(symbolizer->reader, ms) && deep_reader_settle(symbolizer->deep, ms);
}

/* ---- preparing ---- */

/* Reads every unread file that BOARD sent for module ID. After a fault of this machine the file is
   requested once more, in the background. */
static int read_unread(struct symbolizer *symbolizer, const char *board, struct span id) {
  struct debug_file file;
  for (int i = 0; i < UNREAD_FILES_MAX; i++) {
    if (debug_store_find_unread(symbolizer->debug, board, id, &file) != 0) return 0;
    int error = symbol_reader_read(symbolizer->reader, &file);
    if (error != 0) {
      symbol_reader_request(symbolizer->reader, &file);
      return error;
    }
  }
  return 0;
}

int symbolizer_prepare(struct symbolizer *symbolizer, const char *board, struct span id) {
  struct debug_file file;
  char why[LIMIT_VALUE_BYTES];
  int error = read_unread(symbolizer, board, id);
  if (error != 0) return error;
  error = debug_store_judge(symbolizer->debug, board, id, why, sizeof why);
  return error == -EBADMSG ? error : debug_store_find(symbolizer->debug, board, id, &file);
}

/* ---- files of a module ---- */

/* Opens FILE's index. Returns 0; 1 if it is missing, damaged or of an older version, and is being
   made again; or -errno. */
static int open_index(struct symbolizer *symbolizer, const struct debug_file *file,
                      const struct shelved_index **ret) {
  *ret = index_shelf_find(symbolizer->shelf, file);
  if (*ret != NULL) return 0;
  int error = index_shelf_open(symbolizer->shelf, file, ret);
  if (error != -ENOENT && error != -EPROTO && error != -EBADMSG) return error;
  symbol_reader_request(symbolizer->reader, file);
  return 1;
}

/* Writes to RET the files that name BOARD's module ID now, with open indexes; files that cannot be
   opened are left out. Returns how many more may follow soon, or -errno if none can be opened. */
static int look_up(struct symbolizer *symbolizer, const char *board, struct span id,
                   struct name_sources *ret) {
  struct debug_file files[DEBUG_SOURCES_MAX], unread;
  const struct shelved_index *index;
  int late = 0, failure = 0;
  if (debug_store_find_unread(symbolizer->debug, board, id, &unread) == 0) {
    symbol_reader_request(symbolizer->reader, &unread);
    late = 1;
  }
  int count = debug_store_sources(symbolizer->debug, board, id, files);
  if (count < 0) return count;
  memset(ret, 0, sizeof *ret); /* padding too: it is compared as bytes */
  for (int i = 0; i < count; i++) {
    int error = open_index(symbolizer, &files[i], &index);
    if (error != 0) late++;
    if (error < 0) failure = error;
    if (error != 0) continue;
    ret->sources[ret->count].quality = files[i].quality;
    ret->sources[ret->count++].index = &index->file.index;
  }
  if (count > 0 && files[0].quality != DEBUG_DWARF)
    debug_store_hurry(symbolizer->debug, files[0].sha256);
  return ret->count == 0 && failure < 0 ? failure : late;
}

/* With the lock held. Returns the set that equals WANTED, or NULL if there are too many. */
static struct name_sources *keep_sources(struct symbolizer *symbolizer,
                                         const struct name_sources *wanted) {
  uint64_t key = table_hash(wanted, sizeof *wanted, 0); /* addresses: not chosen by senders */
  uint32_t cursor;
  uint32_t at = table_find(&symbolizer->by_content, key, &cursor);
  while (at != TABLE_NONE && memcmp(symbolizer->sources[at], wanted, sizeof *wanted) != 0)
    at = table_next(&symbolizer->by_content, key, &cursor);
  if (at != TABLE_NONE) return symbolizer->sources[at];
  if (symbolizer->source_count == symbolizer->source_room) {
    uint32_t room = symbolizer->source_room > 0 ? symbolizer->source_room * 2 : 64;
    void *more = NULL;
    if (room <= SOURCES_MAX) more = reallocarray(symbolizer->sources, room, sizeof wanted);
    if (more == NULL) return NULL;
    symbolizer->sources = more;
    symbolizer->source_room = room;
  }
  struct name_sources *kept = malloc(sizeof *kept);
  if (kept == NULL || table_add(&symbolizer->by_content, key, symbolizer->source_count) != 0) {
    free(kept);
    return NULL;
  }
  memcpy(kept, wanted, sizeof *kept);
  symbolizer->sources[symbolizer->source_count++] = kept;
  return kept;
}

/* ---- finding ---- */

static const struct name_sources *resolve(struct symbolizer *symbolizer, const char *board,
                                          struct span id) {
  struct name_sources found;
  struct name_sources *kept = NULL;
  uint64_t generation = debug_store_generation(symbolizer->debug, id); /* before the lookup */
  int late = look_up(symbolizer, board, id, &found);
  if (late < 0)
    log_warn("symbols-unread %s: a module's file cannot be read now: %s",
             board != NULL ? board : "operator", strerror(-late));
  struct module_note note = {.generation = generation, .until_ns = UINT64_MAX};
  if (late != 0) note.until_ns = clock_monotonic_ns() + RETRY_S * NS_PER_SECOND;
  pthread_mutex_lock(&symbolizer->lock);
  if (late >= 0 && found.count > 0) {
    kept = keep_sources(symbolizer, &found);
    if (kept == NULL) note.until_ns = clock_monotonic_ns() + RETRY_S * NS_PER_SECOND;
  }
  note.value = kept;
  if (!meter_was_refused()) /* else a query with more memory might succeed */
    module_cache_add(symbolizer->modules, board != NULL ? board : "", id, &note);
  pthread_mutex_unlock(&symbolizer->lock);
  return kept;
}

const struct name_sources *symbolizer_sources(struct symbolizer *symbolizer, const char *board,
                                              struct span id) {
  uint64_t generation = debug_store_generation(symbolizer->debug, id);
  const struct name_sources *found = NULL;
  pthread_mutex_lock(&symbolizer->lock);
  const struct module_note *note =
      module_cache_find(symbolizer->modules, board != NULL ? board : "", id);
  bool is_valid = note != NULL && note->generation == generation &&
                  (note->until_ns == UINT64_MAX || clock_monotonic_ns() < note->until_ns);
  if (is_valid) found = note->value;
  pthread_mutex_unlock(&symbolizer->lock);
  return is_valid ? found : resolve(symbolizer, board, id);
}

int symbolizer_name(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol_frame *frames,
                    enum debug_quality *ret_quality) {
  const struct name_sources *sources = symbolizer_sources(symbolizer, board, id);
  *ret_quality = DEBUG_NONE;
  if (sources == NULL) return -ENOENT;
  return name_sources_chain(sources, address, frames, ret_quality);
}

int symbolizer_chain(struct symbolizer *symbolizer, const char *board, struct span id,
                     uint64_t address, struct symbol_frame *frames) {
  enum debug_quality quality;
  return symbolizer_name(symbolizer, board, id, address, frames, &quality);
}

int symbolizer_find(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol *ret) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int count = symbolizer_chain(symbolizer, board, id, address, frames);
  if (count <= 0) return -ENOENT;
  const struct symbol_frame *outermost = &frames[count - 1];
  *ret = (struct symbol){.name = outermost->name,
                         .start = outermost->start,
                         .size = outermost->size,
                         .file = outermost->decl_file,
                         .line = outermost->decl_line};
  return 0;
}

int symbolizer_file(struct symbolizer *symbolizer, const char *board, struct span id,
                    struct debug_file *ret) {
  return debug_store_find(symbolizer->debug, board, id, ret);
}

void symbolizer_set_translators(struct symbolizer *symbolizer, struct translator_pool *pool) {
  symbolizer->translators = pool;
}

struct translator_pool *symbolizer_translators(const struct symbolizer *symbolizer) {
  return symbolizer->translators;
}
