/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate many, free once: one arena a batch, one a query.  Bounded: an arena never holds more
   than the limit it was made with, so a hostile peer runs into NULL, not into the machine. */
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

/* Takes back all that was given out, and keeps some of the memory for what comes next. */
void arena_clear(struct arena *arena);

/* Returns LEN zeroed bytes, aligned for any type, or NULL when the limit or memory is reached. */
void *arena_alloc(struct arena *arena, size_t len);

/* Returns whether LEN more bytes are over the limit: tells why arena_alloc returned NULL. */
bool arena_is_over(const struct arena *arena, size_t len);

/* Returns COUNT * SIZE zeroed bytes, or NULL; also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies LEN bytes of TEXT and a NUL, or returns NULL. */
char *arena_string(struct arena *arena, const void *text, size_t len);

#endif
