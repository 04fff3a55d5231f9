/* SPDX-License-Identifier: Apache-2.0 */
/* A cache entry for each (board, module) pair, in fixed memory. One thread at a time. */
#ifndef NAMES_MODULE_CACHE_H
#define NAMES_MODULE_CACHE_H

#include "common/span.h"

struct module_cache;

struct module_note {
  uint64_t until_ns;   /* valid until then... */
  uint64_t generation; /* ...and while the module has this generation */
  void *value;
};

struct module_cache *module_cache_new(void); /* or NULL */
void module_cache_free(struct module_cache *cache);

/* Returns the entry of the pair, valid until the next change, or NULL. */
const struct module_note *module_cache_find(const struct module_cache *cache, const char *board,
                                            struct span id);

/* Adds or replaces an entry; it may evict another pair's. */
void module_cache_add(struct module_cache *cache, const char *board, struct span id,
                      const struct module_note *note);

#endif
