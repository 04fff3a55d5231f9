/* SPDX-License-Identifier: Apache-2.0 */
/* An index that was opened once stays open.  Names are handed out as pointers into it and may be in
   use anywhere; its pages are the kernel's to drop.  So the index of a file's symbols stays when
   the one with its debug information comes.  There is a limit, far above what a store of debug
   files holds; beyond it newcomers have no names, and the log says so. */
#include "index_shelf.h"

#include "common/log.h"
#include "common/table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { INDEXES_MAX = 32768 };

struct index_shelf {
  pthread_mutex_t lock;
  struct shelved_index *indexes[INDEXES_MAX];
  uint32_t count;
  struct table by_sha256; /* its first 8 bytes -> place in indexes */
};

struct index_shelf *index_shelf_new(void) {
  struct index_shelf *shelf = calloc(1, sizeof *shelf);
  if (shelf != NULL) pthread_mutex_init(&shelf->lock, NULL);
  return shelf;
}

void index_shelf_free(struct index_shelf *shelf) {
  if (shelf == NULL) return;
  for (uint32_t i = 0; i < shelf->count; i++) {
    index_file_close(&shelf->indexes[i]->file);
    free(shelf->indexes[i]);
  }
  table_fini(&shelf->by_sha256);
  pthread_mutex_destroy(&shelf->lock);
  free(shelf);
}

static uint64_t key_of(const uint8_t sha256[32]) {
  uint64_t key;
  memcpy(&key, sha256, sizeof key);
  return key;
}

/* With the lock held. */
static struct shelved_index *find(const struct index_shelf *shelf, const uint8_t sha256[32],
                                  bool has_dwarf) {
  uint32_t cursor;
  uint64_t key = key_of(sha256);
  uint32_t at = table_find(&shelf->by_sha256, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&shelf->by_sha256, key, &cursor)) {
    struct shelved_index *index = shelf->indexes[at];
    if (index->has_dwarf == has_dwarf && memcmp(index->sha256, sha256, 32) == 0) return index;
  }
  return NULL;
}

const struct shelved_index *index_shelf_find(struct index_shelf *shelf,
                                             const struct debug_file *file) {
  pthread_mutex_lock(&shelf->lock);
  const struct shelved_index *found = find(shelf, file->sha256, file->quality == DEBUG_DWARF);
  pthread_mutex_unlock(&shelf->lock);
  return found;
}

/* Adds FRESH, which somebody else may have added meanwhile.  Returns which one counts, or NULL. */
static struct shelved_index *keep(struct index_shelf *shelf, struct shelved_index *fresh) {
  pthread_mutex_lock(&shelf->lock);
  struct shelved_index *kept = find(shelf, fresh->sha256, fresh->has_dwarf);
  if (kept == NULL && shelf->count < INDEXES_MAX &&
      table_add(&shelf->by_sha256, key_of(fresh->sha256), shelf->count) == 0) {
    shelf->indexes[shelf->count++] = fresh;
    kept = fresh;
    if (shelf->count == INDEXES_MAX)
      log_warn("symbols-full %u indexes are open: further files stay without names until restart",
               (unsigned)INDEXES_MAX);
  }
  pthread_mutex_unlock(&shelf->lock);
  return kept;
}

int index_shelf_open(struct index_shelf *shelf, const struct debug_file *file,
                     const struct shelved_index **ret) {
  struct shelved_index *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return -ENOMEM;
  memcpy(fresh->sha256, file->sha256, sizeof fresh->sha256);
  fresh->has_dwarf = file->quality == DEBUG_DWARF;
  int error = index_file_open(fresh->has_dwarf ? file->dwarf_path : file->index_path, &fresh->file);
  if (error != 0) {
    free(fresh);
    return error;
  }
  struct shelved_index *kept = NULL;
  error = symbol_index_verify(&fresh->file.index);
  if (error == 0) kept = keep(shelf, fresh);
  if (kept != fresh) {
    index_file_close(&fresh->file);
    free(fresh);
  }
  if (error == 0 && kept == NULL) error = -EOVERFLOW;
  if (error == 0) *ret = kept;
  return error;
}
