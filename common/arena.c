/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a batch makes thousands of small arrays and strings that all die together; an arena
   gives them out of a few blocks and frees the blocks.  It is also the budget: `used_bytes` counts
   whole blocks with their headers, so that the limit is what the process really holds, and a peer
   whose message unpacks to more meets NULL.

     blocks -> [header | in use ... | free ] -> [header | full] -> [header | one large thing]

   Requests are cut from the newest block.  One that needs a block of its own goes behind the
   newest, whose free rest stays in use.  Blocks double, and near the limit shrink to what is left.
   Zeros are written where something is given out: of a block that doubled half is never used.
   Nothing is given back before arena_fini: what lives shorter belongs elsewhere.  Who makes one
   thing after the other in the same arena keeps its newest block from one to the next: it is large
   enough for most of the next, and at hand in the CPU's cache. */
#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK_FIRST_BYTES = 4 << 10,     /* one control message with room to spare */
  BLOCK_LARGEST_BYTES = 256 << 10, /* past this, doubling would only leave larger unused ends */
};

struct arena_block {
  struct arena_block *next;
  size_t len; /* of data */
  size_t used;
  alignas(max_align_t) uint8_t data[];
};

static size_t round_up(size_t len) {
  const size_t alignment = alignof(max_align_t);
  return (len + alignment - 1) / alignment * alignment;
}

/* Doubles with every block, so that a large message takes few of them. */
static size_t next_block_bytes(const struct arena *arena) {
  size_t len = arena->blocks ? arena->used_bytes : BLOCK_FIRST_BYTES;
  return len > BLOCK_LARGEST_BYTES ? BLOCK_LARGEST_BYTES : len;
}

/* Returns how large one more block may be, without its header. */
static size_t room_left(const struct arena *arena) {
  size_t left = arena->limit_bytes - arena->used_bytes;
  return left < sizeof(struct arena_block) ? 0 : left - sizeof(struct arena_block);
}

static struct arena_block *add_block(struct arena *arena, size_t needed) {
  size_t left = room_left(arena);
  if (needed > left) return NULL;
  size_t len = next_block_bytes(arena);
  if (len > left) len = left;
  if (len < needed) len = needed;
  struct arena_block *block = malloc(sizeof *block + len);
  if (block == NULL) return NULL;
  *block = (struct arena_block){.len = len};
  arena->used_bytes += sizeof *block + len;
  bool is_own = arena->blocks && arena->blocks->len - arena->blocks->used > len - needed;
  if (is_own) {
    block->next = arena->blocks->next;
    arena->blocks->next = block;
  } else {
    block->next = arena->blocks;
    arena->blocks = block;
  }
  return block;
}

void arena_init(struct arena *arena, size_t limit_bytes) {
  *arena = (struct arena){.limit_bytes = limit_bytes};
}

void arena_fini(struct arena *arena) {
  for (struct arena_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (struct arena){.limit_bytes = arena->limit_bytes};
}

void arena_clear(struct arena *arena) {
  struct arena_block *kept = arena->blocks;
  if (kept == NULL || kept->len > BLOCK_LARGEST_BYTES) {
    arena_fini(arena);
    return;
  }
  arena->blocks = kept->next;
  arena_fini(arena);
  kept->next = NULL;
  kept->used = 0;
  arena->blocks = kept;
  arena->used_bytes = sizeof *kept + kept->len;
}

void *arena_alloc(struct arena *arena, size_t len) {
  if (len > SIZE_MAX - alignof(max_align_t)) return NULL;
  size_t needed = round_up(len ? len : 1); /* even nothing has an address of its own */
  struct arena_block *block = arena->blocks;
  if (block == NULL || block->len - block->used < needed) block = add_block(arena, needed);
  if (block == NULL) return NULL;
  void *data = block->data + block->used;
  block->used += needed;
  return memset(data, 0, needed);
}

bool arena_is_over(const struct arena *arena, size_t len) {
  return len > SIZE_MAX - alignof(max_align_t) || round_up(len) > room_left(arena);
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  return arena_alloc(arena, count * size);
}

char *arena_string(struct arena *arena, const void *text, size_t len) {
  if (len == SIZE_MAX) return NULL;
  char *copy = arena_alloc(arena, len + 1);
  if (copy != NULL && len > 0) memcpy(copy, text, len);
  return copy;
}
