/* SPDX-License-Identifier: Apache-2.0 */
/* Export formats write a name once and then refer to it by number. This table holds the numbers.

   As with a buf, a failed allocation is remembered and checked once at the end, since callers are
   in the middle of a line.

   The hash has no secret seed. A board that chooses colliding names only slows down the export of
   its own tree, which has at most a few thousand names. */
#include "text_ids.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static bool grow(struct text_ids *ids) {
  const char **more = array_grow(ids->texts, ids->count, &ids->room, FIRST_ROOM, sizeof *more);
  if (more == NULL) return false;
  ids->texts = more;
  return true;
}

uint32_t text_ids_of(struct text_ids *ids, const char *text, bool *ret_is_new) {
  uint64_t hash = table_hash(text, strlen(text), 0);
  uint32_t cursor, at = table_find(&ids->by_hash, hash, &cursor);
  while (at != TABLE_NONE && strcmp(ids->texts[at], text) != 0)
    at = table_next(&ids->by_hash, hash, &cursor);
  if (ret_is_new != NULL) *ret_is_new = at == TABLE_NONE;
  if (at != TABLE_NONE) return at;
  if (!grow(ids) || table_add(&ids->by_hash, hash, ids->count) != 0) {
    ids->failed = true;
    return 0;
  }
  ids->texts[ids->count] = text;
  return ids->count++;
}

void text_ids_fini(struct text_ids *ids) {
  table_fini(&ids->by_hash);
  free(ids->texts);
}
