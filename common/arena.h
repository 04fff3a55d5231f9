/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate many, free once: one arena for each batch or query. Bounded: an arena never exceeds its
   limit, so a hostile peer gets NULL and cannot exhaust the machine. */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include "span.h"

struct arena_block;

struct arena {
  struct arena_block *blocks;
  size_t used_bytes;
  size_t limit_bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes);
void arena_fini(struct arena *arena);

/* Frees all allocations, and keeps some of the memory for later ones. */
void arena_clear(struct arena *arena);

/* Returns LEN zeroed bytes, aligned for any type, or NULL if the limit or memory is reached. */
void *arena_alloc(struct arena *arena, size_t len);

/* True if LEN more bytes exceed the limit: the reason why arena_alloc returned NULL. */
bool arena_is_over(const struct arena *arena, size_t len);

/* Returns COUNT * SIZE zeroed bytes, or NULL, also if the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies LEN bytes of TEXT and a NUL, or returns NULL. */
char *arena_string(struct arena *arena, const void *text, size_t len);

#endif
