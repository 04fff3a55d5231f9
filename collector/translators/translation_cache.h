/* SPDX-License-Identifier: Apache-2.0 */
/* What translators said, by (module, address), in bounded memory.  One thread at a time. */
#ifndef TRANSLATORS_TRANSLATION_CACHE_H
#define TRANSLATORS_TRANSLATION_CACHE_H

#include "common/table.h"
#include "translate/answer_lines.h"

struct translation;

/* All-zero is not valid: init. */
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
  TRANSLATION_CACHE_PARTS = 4, /* one module takes a part at most */
  TRANSLATION_BYTES = 128,     /* that an answer takes beside its texts, at most */
};

/* All of it takes LIMIT_BYTES at most; texts stay until fini, whoever holds them. */
void translation_cache_init(struct translation_cache *cache, size_t limit_bytes);
void translation_cache_fini(struct translation_cache *cache);

/* Returns what is known of ADDRESS in module number MODULE (be it that its translator knows
   nothing: a count of 0), or NULL; valid until the next add, what it points to until fini. */
const struct answer *translation_cache_find(const struct translation_cache *cache, uint32_t module,
                                            uint64_t address);

/* Adds a copy of ANSWER, once a place.  Returns 0; -EDQUOT when MODULE has its part of the cache;
   -ENOMEM when that is full. */
int translation_cache_add(struct translation_cache *cache, uint32_t module, uint64_t address,
                          const struct answer *answer);

#endif
