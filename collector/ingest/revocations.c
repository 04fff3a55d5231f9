/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted list of names, replaced as a whole.

   The database may block, so neither the loop nor a handshake queries it. A worker reads the list
   every few seconds, and the loop looks names up in the newest one. The database returns it sorted,
   so a look-up is a binary search. The list alone does not decide: a worker queries the database
   directly when a board sends Hello, so that a board revoked a moment ago is rejected. */
#include "revocations.h"

#include "common/arena.h"
#include "identity/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  REVOCATIONS_FIRST = 64,
  REVOCATIONS_BYTES_MAX = 256 << 20, /* a million boards with the longest names, with a margin */
};

struct revocation {
  const char *board;
  int64_t since_s;
};

struct revocations {
  struct arena arena; /* of the names */
  struct revocation *rows;
  size_t count, cap;
};

static int grow(struct revocations *list) {
  size_t cap = list->cap ? 2 * list->cap : REVOCATIONS_FIRST;
  struct revocation *rows = realloc(list->rows, cap * sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  list->rows = rows;
  list->cap = cap;
  return 0;
}

static int on_board(void *context, const struct access_board *board) {
  struct revocations *list = context;
  if (list->count == list->cap && grow(list) != 0) return -ENOMEM;
  char *name = arena_string(&list->arena, board->name, strlen(board->name));
  if (name == NULL) return -EOVERFLOW;
  list->rows[list->count++] = (struct revocation){name, board->revoked_s};
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
  free(revocations->rows);
  free(revocations);
}

static int compare_names(const void *board, const void *row) {
  return strcmp(board, ((const struct revocation *)row)->board);
}

static const struct revocation *find(const struct revocations *revocations, const char *board) {
  if (revocations == NULL || revocations->count == 0) return NULL;
  return bsearch(board, revocations->rows, revocations->count, sizeof *revocations->rows,
                 compare_names);
}

bool revocations_has(const struct revocations *revocations, const char *board) {
  return find(revocations, board) != NULL;
}

int64_t revocations_since_s(const struct revocations *revocations, const char *board) {
  const struct revocation *found = find(revocations, board);
  return found != NULL ? found->since_s : 0;
}

void revocations_each_new(const struct revocations *old, const struct revocations *new,
                          void (*tell)(void *context, const char *board), void *context) {
  size_t at = 0, old_count = old != NULL ? old->count : 0;
  for (size_t i = 0; i < new->count; i++) {
    int order = 1;
    while (at < old_count && (order = strcmp(old->rows[at].board, new->rows[i].board)) < 0) at++;
    if (at == old_count || order > 0) tell(context, new->rows[i].board);
  }
}
