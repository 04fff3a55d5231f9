/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted list of names, replaced as a whole.

   The database may keep its asker waiting, so neither the loop nor a handshake asks it: a worker
   reads the list every few seconds and the loop looks names up in the newest one.  It comes in
   order from the database, so a look-up is a binary search.  What it does not do is judge: whether
   a board that has just been revoked gets in is decided by a direct question, on a worker, when the
   board says hello. */
#include "revocations.h"

#include "common/arena.h"
#include "identity/access.h"

#include <errno.h>
#include <stdlib.h>

enum {
  REVOCATIONS_FIRST = 64,
  REVOCATIONS_BYTES_MAX = 256 << 20, /* a million boards with the longest names, and to spare */
};

struct revocations {
  struct arena arena;
  const char **names;
  size_t count, cap;
};

static int grow(struct revocations *list) {
  size_t cap = list->cap ? 2 * list->cap : REVOCATIONS_FIRST;
  const char **names = realloc(list->names, cap * sizeof *names);
  if (names == NULL) return -ENOMEM;
  list->names = names;
  list->cap = cap;
  return 0;
}

static int on_board(void *context, const char *board) {
  struct revocations *list = context;
  if (list->count == list->cap && grow(list) != 0) return -ENOMEM;
  char *name = arena_string(&list->arena, board, strlen(board));
  if (name == NULL) return -EOVERFLOW;
  list->names[list->count++] = name;
  return 0;
}

int revocations_read(struct access *access, struct revocations **ret) {
  struct revocations *list = calloc(1, sizeof *list);
  if (list == NULL) return -ENOMEM;
  arena_init(&list->arena, REVOCATIONS_BYTES_MAX);
  int result = access_revoked(access, on_board, list);
  if (result != 0) {
    revocations_free(list);
    return result;
  }
  *ret = list;
  return 0;
}

void revocations_free(struct revocations *revocations) {
  if (revocations == NULL) return;
  arena_fini(&revocations->arena);
  free(revocations->names);
  free(revocations);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(a, *(const char *const *)b);
}

bool revocations_has(const struct revocations *revocations, const char *board) {
  return revocations != NULL && revocations->count > 0 &&
         bsearch(board, revocations->names, revocations->count, sizeof *revocations->names,
                 compare_names) != NULL;
}
