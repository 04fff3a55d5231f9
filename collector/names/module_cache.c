/* SPDX-License-Identifier: Apache-2.0 */
/* Every batch of every board lists its modules, and every query needs their names; for nearly all
   of them nothing has changed since the last time. This caches the answers in fixed memory.

   It may evict at any time: each pair has one cell, given by a hash with a seed that boards do not
   have, and a new pair replaces the old one. An evicted pair costs one more database query. Keys
   are compared in full, so a collision never gives a wrong answer. */
#include "module_cache.h"

#include "common/table.h"
#include "proto/limits.h"

#include <stdlib.h>
#include <sys/random.h>

enum {
  CELLS = 16384, /* power of two; 3.8 MB: a thousand boards with a dozen modules each */
  KEY_BYTES = LIMIT_NAME_BYTES + 1 + LIMIT_MODULE_ID_BYTES,
};

struct cell {
  struct module_note note;
  uint32_t key_len; /* 0: empty */
  uint8_t key[KEY_BYTES];
};

struct module_cache {
  uint64_t seed;
  struct cell cells[CELLS];
};

struct module_cache *module_cache_new(void) {
  struct module_cache *cache = calloc(1, sizeof *cache);
  if (cache == NULL) return NULL;
  if (getrandom(&cache->seed, sizeof cache->seed, 0) != sizeof cache->seed) {
    free(cache);
    return NULL;
  }
  return cache;
}

void module_cache_free(struct module_cache *cache) {
  free(cache);
}

/* Writes BOARD, a NUL and ID to KEY. Returns the length, or 0 if they exceed their limits. */
static size_t make_key(const char *board, struct span id, uint8_t key[KEY_BYTES]) {
  size_t board_len = strlen(board) + 1;
  if (board_len > LIMIT_NAME_BYTES + 1 || id.len > LIMIT_MODULE_ID_BYTES) return 0;
  memcpy(key, board, board_len);
  if (id.len > 0) memcpy(key + board_len, id.data, id.len);
  return board_len + id.len;
}

static size_t place(const struct module_cache *cache, const uint8_t *key, size_t len) {
  return table_hash(key, len, cache->seed) % CELLS;
}

const struct module_note *module_cache_find(const struct module_cache *cache, const char *board,
                                            struct span id) {
  uint8_t key[KEY_BYTES];
  size_t len = make_key(board, id, key);
  if (len == 0) return NULL;
  const struct cell *cell = &cache->cells[place(cache, key, len)];
  bool is_here = cell->key_len == len && memcmp(cell->key, key, len) == 0;
  return is_here ? &cell->note : NULL;
}

void module_cache_add(struct module_cache *cache, const char *board, struct span id,
                      const struct module_note *note) {
  uint8_t key[KEY_BYTES];
  size_t len = make_key(board, id, key);
  if (len == 0) return;
  struct cell *cell = &cache->cells[place(cache, key, len)];
  cell->note = *note;
  cell->key_len = (uint32_t)len;
  memcpy(cell->key, key, len);
}
