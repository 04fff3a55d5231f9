/* SPDX-License-Identifier: Apache-2.0 */
/* A short list of module ids.

   It limits the concurrent requests of a session, and proves that a piece of a debug file was
   requested: other pieces are dropped before they are inflated. With at most 64 rows a linear
   search is as good as a hash. Most sessions have no requests, so the rows are allocated late. */
#include "wanted.h"

#include <errno.h>
#include <stdlib.h>

struct wanted_row {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  size_t len;
};

void wanted_fini(struct wanted *wanted) {
  free(wanted->rows);
  *wanted = (struct wanted){0};
}

static struct wanted_row *find(const struct wanted *wanted, struct span id) {
  for (unsigned i = 0; i < wanted->count; i++)
    if (span_is_equal(span_of(wanted->rows[i].id, wanted->rows[i].len), id))
      return &wanted->rows[i];
  return NULL;
}

bool wanted_has(const struct wanted *wanted, struct span id) {
  return find(wanted, id) != NULL;
}

int wanted_add(struct wanted *wanted, struct span id) {
  if (id.len == 0 || id.len > LIMIT_MODULE_ID_BYTES) return -EOVERFLOW;
  if (find(wanted, id) != NULL) return -EEXIST;
  if (wanted->count == LIMIT_DEBUG_WANTED) return -ENOSPC;
  if (wanted->rows == NULL) wanted->rows = calloc(LIMIT_DEBUG_WANTED, sizeof *wanted->rows);
  if (wanted->rows == NULL) return -ENOMEM;
  struct wanted_row *row = &wanted->rows[wanted->count++];
  memcpy(row->id, id.data, id.len);
  row->len = id.len;
  return 0;
}

bool wanted_remove(struct wanted *wanted, struct span id) {
  struct wanted_row *row = find(wanted, id);
  if (row == NULL) return false;
  *row = wanted->rows[--wanted->count];
  return true;
}
