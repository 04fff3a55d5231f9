/* SPDX-License-Identifier: Apache-2.0 */
/* What addresses are called, from one query to the next, in fixed memory.  Any thread. */
#ifndef NAMES_CHAIN_CACHE_H
#define NAMES_CHAIN_CACHE_H

#include "name_sources.h"

struct chain_cache;

struct chain_cache *chain_cache_new(void); /* or NULL */
void chain_cache_free(struct chain_cache *cache);

/* As name_sources_chain, which is asked only for what is not remembered.  Borrows SOURCES for as
   long as CACHE lives: they, their indexes and the texts in these must stay as they are. */
int chain_cache_find(struct chain_cache *cache, const struct name_sources *sources,
                     uint64_t address, struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                     enum debug_quality *ret_quality);

#endif
