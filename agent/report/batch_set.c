/* SPDX-License-Identifier: Apache-2.0 */
/* A batch is identified by its run, which is random, and its number in the run.  The collector's
   store deduplicates by the same key. */
#include "batch_set.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64 };

int batch_set_add(struct batch_set *set, uint64_t run, uint64_t seq) {
  const struct batch_key key = {run, seq};
  uint64_t hash = table_hash(&key, sizeof key, 0);
  uint32_t cursor, at = table_find(&set->by_key, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&set->by_key, hash, &cursor))
    if (set->keys[at].run == run && set->keys[at].seq == seq) return -EEXIST;
  void *more = array_grow(set->keys, set->count, &set->room, FIRST_ROOM, sizeof *set->keys);
  if (more == NULL) return -ENOMEM;
  set->keys = more;
  set->keys[set->count] = key;
  return table_add(&set->by_key, hash, set->count++);
}

void batch_set_fini(struct batch_set *set) {
  table_fini(&set->by_key);
  free(set->keys);
  *set = (struct batch_set){.count = 0};
}
