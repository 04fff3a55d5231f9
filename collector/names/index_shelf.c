/* SPDX-License-Identifier: Apache-2.0 */
/* An opened index stays open. Callers hold pointers to its names anywhere, and the kernel may drop
   its pages. So the index of a file's symbols stays open when the index with its debug information
   arrives. That one stays open when it is made again with later supplements.

   The limit is far above the number of files in a debug store. Beyond it new indexes are rejected,
   which is logged once. One board's files must not use it up: operators' files are counted
   separately. A board may open more while it has no more than is free in the boards' half, as with
   names (symbol/index_texts.c). So some room always remains for others. */
#include "index_shelf.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct index_shelf {
  pthread_mutex_t lock;
  struct shelved_index *indexes[INDEX_SHELF_MAX];
  uint32_t count, of_boards;
  uint32_t held[INDEX_TEXTS_SENDERS]; /* by sender */
  bool has_refused;
  struct table by_sha256; /* its first 8 bytes -> index in indexes */
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

static const char *path_of(const struct debug_file *file) {
  return file->quality == DEBUG_DWARF ? file->dwarf_path : file->index_path;
}

/* Writes to RET the identity of FILE's current index. */
static int identify(const struct debug_file *file, struct shelved_index *ret) {
  struct stat status;
  if (stat(path_of(file), &status) != 0) return -errno;
  memcpy(ret->sha256, file->sha256, sizeof ret->sha256);
  ret->has_dwarf = file->quality == DEBUG_DWARF;
  ret->inode = status.st_ino;
  ret->made_ns = (uint64_t)status.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)status.st_mtim.tv_nsec;
  return 0;
}

static bool is_same(const struct shelved_index *a, const struct shelved_index *b) {
  return a->has_dwarf == b->has_dwarf && a->inode == b->inode && a->made_ns == b->made_ns &&
         memcmp(a->sha256, b->sha256, sizeof a->sha256) == 0;
}

/* With the lock held. */
static struct shelved_index *find(const struct index_shelf *shelf,
                                  const struct shelved_index *wanted) {
  uint32_t cursor;
  uint64_t key = key_of(wanted->sha256);
  uint32_t at = table_find(&shelf->by_sha256, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&shelf->by_sha256, key, &cursor)) {
    if (is_same(shelf->indexes[at], wanted)) return shelf->indexes[at];
  }
  return NULL;
}

const struct shelved_index *index_shelf_find(struct index_shelf *shelf,
                                             const struct debug_file *file) {
  struct shelved_index wanted;
  if (identify(file, &wanted) != 0) return NULL;
  pthread_mutex_lock(&shelf->lock);
  const struct shelved_index *found = find(shelf, &wanted);
  pthread_mutex_unlock(&shelf->lock);
  return found;
}

/* Whether SENDER may have another index open. With the lock held. */
static bool has_room(const struct index_shelf *shelf, uint32_t sender) {
  uint32_t half = INDEX_SHELF_MAX / 2, held = shelf->held[sender];
  if (sender == INDEX_TEXTS_OPERATORS) return held < half;
  return shelf->of_boards < half && held < half - shelf->of_boards;
}

/* With the lock held. */
static void refuse(struct index_shelf *shelf, uint32_t sender) {
  if (shelf->has_refused) return;
  shelf->has_refused = true;
  log_warn("symbols-full %s: %u indexes of theirs are open: further ones stay without names until "
           "restart",
           sender == INDEX_TEXTS_OPERATORS ? "operators' files" : "a board's files",
           (unsigned)shelf->held[sender]);
}

/* With the lock held. Returns whether it succeeded. */
static bool add(struct index_shelf *shelf, struct shelved_index *fresh) {
  if (table_add(&shelf->by_sha256, key_of(fresh->sha256), shelf->count) != 0) return false;
  shelf->indexes[shelf->count++] = fresh;
  shelf->held[fresh->file.index.texts.sender]++;
  shelf->of_boards += fresh->file.index.texts.sender != INDEX_TEXTS_OPERATORS;
  return true;
}

/* Adds FRESH, unless another thread has added the same meanwhile. Returns the one that was kept, or
   NULL. */
static struct shelved_index *keep(struct index_shelf *shelf, struct shelved_index *fresh) {
  pthread_mutex_lock(&shelf->lock);
  struct shelved_index *kept = find(shelf, fresh);
  uint32_t sender = fresh->file.index.texts.sender;
  if (kept == NULL && !has_room(shelf, sender))
    refuse(shelf, sender);
  else if (kept == NULL && add(shelf, fresh))
    kept = fresh;
  pthread_mutex_unlock(&shelf->lock);
  return kept;
}

int index_shelf_open(struct index_shelf *shelf, const struct debug_file *file,
                     const struct shelved_index **ret) {
  struct shelved_index *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return -ENOMEM;
  int error = identify(file, fresh); /* before opening: a later version is then found next time */
  if (error == 0) error = index_file_open(path_of(file), &fresh->file);
  if (error != 0) {
    free(fresh);
    return error;
  }
  struct shelved_index *kept = NULL;
  fresh->file.index.texts.sender = file->sender;
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
