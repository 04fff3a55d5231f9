/* SPDX-License-Identifier: Apache-2.0 */
/* A note for each (board, module) pair, in fixed memory.  One thread at a time. */
#ifndef NAMES_MODULE_CACHE_H
#define NAMES_MODULE_CACHE_H

#include "common/span.h"

struct module_cache;

struct module_note {
  uint64_t until_ns;   /* what the note says holds until then... */
  uint64_t generation; /* ...and while this is the module's */
  void *value;
};

struct module_cache *module_cache_new(void); /* or NULL */
void module_cache_free(struct module_cache *cache);

/* Returns the note of the pair, valid until the next change, or NULL. */
const struct module_note *module_cache_find(const struct module_cache *cache, const char *board,
                                            struct span id);

/* Adds or replaces a note; an older one of another pair may be forgotten for it. */
void module_cache_add(struct module_cache *cache, const char *board, struct span id,
                      const struct module_note *note);

#endif
