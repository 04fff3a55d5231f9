/* SPDX-License-Identifier: Apache-2.0 */
/* Callers hold pointers to names in any query, as with symbol indexes, so nothing is evicted while
   the collector runs. The limit is far above the addresses that a fleet samples in modules with a
   translator. Beyond it new addresses keep the names of their symbol table.

   A board can send any number of addresses, even invented ones, and each takes room: an unknown
   address is cached, or each query would request it again. So each module has a share of the
   cache. */
#include "translation_cache.h"

#include "common/array.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct translation {
  uint64_t address;
  uint32_t module;
  struct answer answer;
};

void translation_cache_init(struct translation_cache *cache, size_t limit_bytes) {
  *cache = (struct translation_cache){.limit_bytes = limit_bytes};
  arena_init(&cache->texts, limit_bytes);
  if (getrandom(&cache->seed, sizeof cache->seed, 0) != (ssize_t)sizeof cache->seed)
    cache->seed = clock_monotonic_ns();
}

void translation_cache_fini(struct translation_cache *cache) {
  table_fini(&cache->by_place);
  free(cache->translations);
  free(cache->module_bytes);
  arena_fini(&cache->texts);
}

/* Boards choose addresses: without a secret seed they could make all keys collide. */
static uint64_t key_of(const struct translation_cache *cache, uint32_t module, uint64_t address) {
  const uint64_t words[2] = {module, address};
  return table_hash(words, sizeof words, cache->seed);
}

const struct answer *translation_cache_find(const struct translation_cache *cache, uint32_t module,
                                            uint64_t address) {
  uint64_t key = key_of(cache, module, address);
  uint32_t cursor;
  uint32_t at = table_find(&cache->by_place, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&cache->by_place, key, &cursor)) {
    const struct translation *found = &cache->translations[at];
    if (found->module == module && found->address == address) return &found->answer;
  }
  return NULL;
}

static bool copy_text(struct arena *texts, const char **text) {
  if (*text == NULL) return true;
  *text = arena_string(texts, *text, strlen(*text));
  return *text != NULL;
}

static int copy_answer(struct arena *texts, const struct answer *answer, struct answer *ret) {
  struct symbol_frame *frames = arena_array(texts, answer->count, sizeof *frames);
  if (answer->count > 0 && frames == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < answer->count; i++) {
    frames[i] = answer->frames[i];
    if (!copy_text(texts, &frames[i].name) || !copy_text(texts, &frames[i].file)) return -ENOMEM;
  }
  *ret = (struct answer){frames, answer->count};
  return 0;
}

static size_t used_bytes(const struct translation_cache *cache) {
  return cache->texts.used_bytes + (size_t)cache->count * TRANSLATION_BYTES;
}

/* Makes room for one more answer of module number MODULE. */
static int make_room(struct translation_cache *cache, uint32_t module) {
  void *more = array_grow(cache->translations, cache->count, &cache->room, 1024,
                          sizeof *cache->translations);
  if (more == NULL) return -ENOMEM;
  cache->translations = more;
  if (module >= cache->module_room) {
    size_t *bytes = reallocarray(cache->module_bytes, module + 64, sizeof *bytes);
    if (bytes == NULL) return -ENOMEM;
    memset(bytes + cache->module_room, 0, (module + 64 - cache->module_room) * sizeof *bytes);
    cache->module_bytes = bytes;
    cache->module_room = module + 64;
  }
  return 0;
}

int translation_cache_add(struct translation_cache *cache, uint32_t module, uint64_t address,
                          const struct answer *answer) {
  struct translation translation = {.address = address, .module = module};
  size_t part_bytes = cache->limit_bytes / TRANSLATION_CACHE_PARTS, before = used_bytes(cache);
  if (translation_cache_find(cache, module, address) != NULL) return 0;
  if (before + TRANSLATION_BYTES > cache->limit_bytes) return -ENOMEM;
  int error = make_room(cache, module);
  if (error != 0) return error;
  if (cache->module_bytes[module] >= part_bytes) return -EDQUOT;
  if (answer->count > 0) error = copy_answer(&cache->texts, answer, &translation.answer);
  if (error == 0) error = table_add(&cache->by_place, key_of(cache, module, address), cache->count);
  if (error == 0) cache->translations[cache->count++] = translation;
  cache->module_bytes[module] += used_bytes(cache) - before;
  return error;
}
