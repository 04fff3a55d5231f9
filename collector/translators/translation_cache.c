/* SPDX-License-Identifier: Apache-2.0 */
/* Names are handed out as pointers and may be in use in any answer, as those of symbol indexes, so
   nothing is ever forgotten while the collector runs.  The limit is far above what a fleet samples
   in modules that need a translator; beyond it newcomers keep their symbol table's names. */
#include "translation_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct translation {
  uint64_t address;
  uint32_t module;
  struct answer answer;
};

void translation_cache_init(struct translation_cache *cache, size_t limit_bytes) {
  *cache = (struct translation_cache){0};
  arena_init(&cache->texts, limit_bytes);
}

void translation_cache_fini(struct translation_cache *cache) {
  table_fini(&cache->by_place);
  free(cache->translations);
  arena_fini(&cache->texts);
}

static uint64_t key_of(uint32_t module, uint64_t address) {
  const uint64_t words[2] = {module, address};
  return table_hash(words, sizeof words, 0);
}

const struct answer *translation_cache_find(const struct translation_cache *cache, uint32_t module,
                                            uint64_t address) {
  uint64_t key = key_of(module, address);
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

int translation_cache_add(struct translation_cache *cache, uint32_t module, uint64_t address,
                          const struct answer *answer) {
  struct translation translation = {.address = address, .module = module};
  if (translation_cache_find(cache, module, address) != NULL) return 0;
  if (arena_is_over(&cache->texts, sizeof translation)) return -ENOMEM;
  if (cache->count == cache->room) {
    uint32_t room = cache->room > 0 ? cache->room * 2 : 1024;
    void *more = reallocarray(cache->translations, room, sizeof translation);
    if (more == NULL) return -ENOMEM;
    cache->translations = more;
    cache->room = room;
  }
  int error = copy_answer(&cache->texts, answer, &translation.answer);
  if (error != 0) return error;
  cache->translations[cache->count] = translation;
  return table_add(&cache->by_place, key_of(module, address), cache->count++);
}
