/* SPDX-License-Identifier: Apache-2.0 */
/* A query asks for the same addresses as the one before it: a page that is drawn anew each few
   seconds, a range that moves.  To read an address out of an index takes some three thousand
   instructions, here some three hundred.

     sets   WAYS cells each, by a hash of (sources, address) -> where its frames are
     ring   frames, one chain after the other; who comes round overwrites the oldest

   Frames are numbered from the start of the collector.  A cell's are there while the ring has not
   gone once round since, so nothing has to be taken out of a set, and a cell whose frames are gone
   counts as empty.  Addresses that nothing is known of are remembered, too: a chain of none. */
#include "chain_cache.h"

#include "common/table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
  WAYS = 4,
  SETS = 32768,         /* power of two; with WAYS, 4 MB of cells */
  RING_FRAMES = 262144, /* 15 MB: 2 frames a cell, where inlining is heavy; used pages only */
};

struct cell {
  const struct name_sources *sources; /* NULL: empty */
  uint64_t address;
  uint64_t first; /* number of its first frame */
  uint32_t count;
  enum debug_quality quality;
};

struct chain_cache {
  pthread_mutex_t lock;
  uint64_t seed;
  uint64_t next; /* number of the frame that will be written next */
  struct cell sets[SETS][WAYS];
  struct symbol_frame ring[RING_FRAMES];
};

struct chain_cache *chain_cache_new(void) {
  struct chain_cache *cache = calloc(1, sizeof *cache);
  if (cache == NULL) return NULL;
  if (getrandom(&cache->seed, sizeof cache->seed, 0) != sizeof cache->seed) {
    free(cache);
    return NULL;
  }
  pthread_mutex_init(&cache->lock, NULL);
  return cache;
}

void chain_cache_free(struct chain_cache *cache) {
  if (cache == NULL) return;
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

static struct cell *set_of(struct chain_cache *cache, const struct name_sources *sources,
                           uint64_t address) {
  const uint64_t words[2] = {(uintptr_t)sources, address};
  return cache->sets[table_hash(words, sizeof words, cache->seed) % SETS];
}

static bool is_there(const struct chain_cache *cache, const struct cell *cell) {
  return cell->sources != NULL && cache->next - cell->first <= RING_FRAMES;
}

/* With the lock held.  Returns the cell, or NULL. */
static const struct cell *find(const struct chain_cache *cache, const struct cell *set,
                               const struct name_sources *sources, uint64_t address) {
  for (unsigned i = 0; i < WAYS; i++)
    if (set[i].address == address && set[i].sources == sources && is_there(cache, &set[i]))
      return &set[i];
  return NULL;
}

/* The cell that a newcomer takes: an empty one, or that of the oldest frames. */
static struct cell *choose(const struct chain_cache *cache, struct cell *set) {
  struct cell *oldest = set;
  for (unsigned i = 0; i < WAYS; i++) {
    if (!is_there(cache, &set[i])) return &set[i];
    if (set[i].first < oldest->first) oldest = &set[i];
  }
  return oldest;
}

/* Where COUNT frames go, one behind the other: a chain never goes round. */
static uint64_t take_room(struct chain_cache *cache, uint32_t count) {
  uint64_t left = RING_FRAMES - cache->next % RING_FRAMES;
  if (left < count) cache->next += left;
  uint64_t first = cache->next;
  cache->next += count;
  return first;
}

static void remember(struct chain_cache *cache, const struct cell *answer,
                     const struct symbol_frame *frames) {
  pthread_mutex_lock(&cache->lock);
  struct cell *set = set_of(cache, answer->sources, answer->address);
  if (find(cache, set, answer->sources, answer->address) == NULL) {
    struct cell *cell = choose(cache, set);
    *cell = *answer;
    cell->first = take_room(cache, answer->count);
    memcpy(&cache->ring[cell->first % RING_FRAMES], frames, answer->count * sizeof *frames);
  }
  pthread_mutex_unlock(&cache->lock);
}

/* Returns how many frames, or -1: they are not remembered. */
static int recall(struct chain_cache *cache, const struct name_sources *sources, uint64_t address,
                  struct symbol_frame *frames, enum debug_quality *ret_quality) {
  int count = -1;
  pthread_mutex_lock(&cache->lock);
  const struct cell *cell = find(cache, set_of(cache, sources, address), sources, address);
  if (cell != NULL) {
    count = (int)cell->count;
    memcpy(frames, &cache->ring[cell->first % RING_FRAMES], cell->count * sizeof *frames);
    *ret_quality = cell->quality;
  }
  pthread_mutex_unlock(&cache->lock);
  return count;
}

int chain_cache_find(struct chain_cache *cache, const struct name_sources *sources,
                     uint64_t address, struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                     enum debug_quality *ret_quality) {
  enum debug_quality quality = DEBUG_NONE;
  int count = recall(cache, sources, address, frames, &quality);
  if (count < 0) {
    count = name_sources_chain(sources, address, frames, &quality);
    if (count < 0) count = 0;
    const struct cell answer = {sources, address, 0, (uint32_t)count, quality};
    remember(cache, &answer, frames);
  }
  if (count == 0) return -ENOENT;
  *ret_quality = quality;
  return count;
}
