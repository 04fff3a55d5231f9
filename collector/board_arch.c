/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of boards' architectures. The architecture is needed for each module, and reading all
   boards from the store is slow. If a board is missing, it may be new: the list is read again, at
   most every few seconds. */
#include "board_arch.h"

#include "common/clock.h"
#include "store/store_read.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REREAD_S = 5, ARCH_BYTES = 32 };

struct entry {
  char *board;
  char arch[ARCH_BYTES];
};

struct board_arch {
  struct store *store;
  pthread_mutex_t lock;
  struct entry *entries; /* sorted by name, as the store lists them */
  size_t count;
  uint64_t read_ns; /* 0: never */
};

struct board_arch *board_arch_new(struct store *store) {
  struct board_arch *arches = calloc(1, sizeof *arches);
  if (arches == NULL) return NULL;
  arches->store = store;
  pthread_mutex_init(&arches->lock, NULL);
  return arches;
}

static void forget(struct board_arch *arches) {
  for (size_t i = 0; i < arches->count; i++) free(arches->entries[i].board);
  free(arches->entries);
  arches->entries = NULL;
  arches->count = 0;
}

void board_arch_free(struct board_arch *arches) {
  if (arches == NULL) return;
  forget(arches);
  pthread_mutex_destroy(&arches->lock);
  free(arches);
}

static int on_board(void *context, const struct store_board *board) {
  struct board_arch *arches = context;
  struct entry *more = reallocarray(arches->entries, arches->count + 1, sizeof *more);
  if (more == NULL) return -ENOMEM;
  arches->entries = more;
  struct entry *entry = &more[arches->count];
  entry->board = strdup(board->name);
  if (entry->board == NULL) return -ENOMEM;
  snprintf(entry->arch, sizeof entry->arch, "%s", board->arch != NULL ? board->arch : "");
  arches->count++;
  return 0;
}

static int by_board(const void *name, const void *entry) {
  return strcmp(name, ((const struct entry *)entry)->board);
}

static const struct entry *find(const struct board_arch *arches, const char *board) {
  if (arches->count == 0) return NULL;
  return bsearch(board, arches->entries, arches->count, sizeof *arches->entries, by_board);
}

void board_arch_find(void *context, const char *board, char *ret, size_t ret_len) {
  struct board_arch *arches = context;
  pthread_mutex_lock(&arches->lock);
  const struct entry *entry = find(arches, board);
  uint64_t now = clock_monotonic_ns();
  bool is_old = arches->read_ns == 0 || now - arches->read_ns >= REREAD_S * NS_PER_SECOND;
  bool is_told = entry != NULL && entry->arch[0] != '\0'; /* set by a board's first batch */
  if (!is_told && is_old) {
    arches->read_ns = now;
    forget(arches);
    store_boards(arches->store, on_board, arches); /* a partial list is better than none */
    entry = find(arches, board);
  }
  snprintf(ret, ret_len, "%s", entry != NULL ? entry->arch : "");
  pthread_mutex_unlock(&arches->lock);
}
