/* SPDX-License-Identifier: Apache-2.0 */
/* Translators' answers, by (module, address), in bounded memory. One thread at a time. */
#ifndef TRANSLATORS_TRANSLATION_CACHE_H
#define TRANSLATORS_TRANSLATION_CACHE_H

#include "common/table.h"
#include "translate/answer_lines.h"

struct translation;

/* Initialize by translation_cache_init; all-zero is not valid. */
struct translation_cache {
  struct arena texts;
  struct table by_place;
  struct translation *translations;
  uint32_t count, room;
  size_t limit_bytes;
  uint64_t seed;        /* of the table's keys */
  size_t *module_bytes; /* by number of the module */
  uint32_t module_room;
};

enum {
  TRANSLATION_CACHE_PARTS = 4, /* one module uses at most one part */
  TRANSLATION_BYTES = 128,     /* upper bound for an answer without its texts */
};

/* The cache takes at most LIMIT_BYTES. Texts stay valid until translation_cache_fini. */
void translation_cache_init(struct translation_cache *cache, size_t limit_bytes);
void translation_cache_fini(struct translation_cache *cache);

/* Returns the answer for ADDRESS in module number MODULE, or NULL. A count of 0 means that its
   translator has no name. The result is valid until the next add, its texts until
   translation_cache_fini. */
const struct answer *translation_cache_find(const struct translation_cache *cache, uint32_t module,
                                            uint64_t address);

/* Adds a copy of ANSWER, once for each address. Returns 0; -EDQUOT if MODULE's share of the cache
   is used up; -ENOMEM if the cache is full. */
int translation_cache_add(struct translation_cache *cache, uint32_t module, uint64_t address,
                          const struct answer *answer);

#endif
