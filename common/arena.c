/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a batch makes thousands of small arrays and strings with the same lifetime. An arena
   allocates them from a few blocks and frees the blocks. It is also the memory limit: `used_bytes`
   counts whole blocks with their headers, so the limit is on the memory really held. A peer's
   message that unpacks to more gets NULL.

     blocks -> [header | in use ... | free ] -> [header | full] -> [header | one large thing]

   Requests are served from the newest block. A request that needs its own block is linked after the
   newest, which stays in use. Blocks double in size, and near the limit shrink to the remaining
   room. Memory is zeroed when it is allocated from a block: half of a doubled block is never used.
   Nothing is freed before arena_fini: shorter-lived data belongs elsewhere. arena_clear keeps the
   newest block for the next use of the arena. It is large enough for most of it, and in the CPU's
   cache. */
#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK_FIRST_BYTES = 4 << 10,     /* one control message with room to spare */
  BLOCK_LARGEST_BYTES = 256 << 10, /* larger blocks would only have larger unused ends */
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

/* Returns the maximum size of one more block, without its header. */
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
  size_t needed = round_up(len ? len : 1); /* even an empty allocation has its own address */
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
