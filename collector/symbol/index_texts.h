/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a symbol index: packed in the file, unpacked a block at a time when somebody asks.

   STRINGS are NUL-terminated texts, cut into blocks of INDEX_TEXT_BLOCK_BYTES that none crosses,
   each a zstd frame; TEXTS is the directory of them.  A path is told by its offset in the unpacked
   strings, a name by offset << 1 | is readable: then what it was made of, the name as the file has
   it, is the next string of the same block. */
#ifndef SYMBOL_INDEX_TEXTS_H
#define SYMBOL_INDEX_TEXTS_H

#include "common/span.h"
#include "index_format.h"

#include <stdatomic.h>

struct buf;

enum { INDEX_TEXT_BLOCK_BYTES = 32 << 10 };
#define INDEX_TEXT_BLOCKS_MAX (INDEX_STRINGS_BYTES_MAX / INDEX_TEXT_BLOCK_BYTES)

struct index_text_block {
  uint32_t offset; /* in the packed strings */
  uint32_t bytes;  /* unpacked: INDEX_TEXT_BLOCK_BYTES, of the last block what is left */
};

_Static_assert(sizeof(struct index_text_block) == 8, "on disk");

/* What all indexes of this process may unpack, half of it those of operators' files: beyond it,
   texts that nobody asked for before are not to be had. */
#define INDEX_TEXTS_MEMORY_MAX ((size_t)2 << 30)

/* Who sent the file that an index is of. */
enum {
  INDEX_TEXTS_OPERATORS = 0, /* or it came from upstream, or is our own */
  INDEX_TEXTS_SENDERS = 257, /* boards share the other numbers */
};

/* Borrows the packed bytes. */
struct index_texts {
  const struct index_text_block *directory;
  struct span packed;
  uint32_t count;
  uint32_t sender; /* below INDEX_TEXTS_SENDERS; chosen before the first text is asked for */
  _Atomic(uint8_t *) *blocks; /* NULL: not unpacked yet */
};

/* Begins to read the texts PACKED, cut as DIRECTORY says: checks its sizes alone.  Returns 0,
   -EBADMSG or -ENOMEM. */
int index_texts_init(struct index_texts *texts, struct span directory, struct span packed);

/* Another limit than INDEX_TEXTS_MEMORY_MAX. */
void index_texts_set_limit(size_t bytes);

struct index_texts_counts {
  uint64_t bytes;    /* unpacked now */
  uint64_t refusals; /* blocks that there was no room for */
};

/* Any thread. */
void index_texts_count(struct index_texts_counts *ret);

/* What all texts take when they are unpacked. */
uint64_t index_texts_bytes(const struct index_texts *texts);

/* Ends it; texts that were handed out are gone. */
void index_texts_fini(struct index_texts *texts);

/* Unpacks block NUMBER of less than the count for good.  Returns where it lies, or NULL. */
const uint8_t *index_texts_take_block(const struct index_texts *texts, uint32_t number);

/* The text at OFFSET, valid until index_texts_fini; so is that right behind it, "" when there is
   none.  NULL when no text begins there, its block is damaged, or memory is short.  Any thread. */
static inline const char *index_texts_at(const struct index_texts *texts, uint32_t offset) {
  uint32_t number = offset / INDEX_TEXT_BLOCK_BYTES, at = offset % INDEX_TEXT_BLOCK_BYTES;
  if (number >= texts->count || at >= texts->directory[number].bytes) return NULL;
  /* Acquire: with the release in index_texts_take_block the texts are there, too. */
  const uint8_t *block = atomic_load_explicit(&texts->blocks[number], memory_order_acquire);
  if (block == NULL) block = index_texts_take_block(texts, number);
  if (block == NULL || (at > 0 && block[at - 1] != '\0')) return NULL;
  return (const char *)block + at;
}

/* Appends the texts of block NUMBER, which is less than the count, to RET.  Returns 0, -EBADMSG
   when they are not whole, or -ENOMEM.  Any thread. */
int index_texts_unpack(const struct index_texts *texts, uint32_t number, struct buf *ret);

enum index_texts_effort {
  INDEX_TEXTS_SMALL = 9, /* zstd's levels: 12 takes one per cent less, and twice the time */
  INDEX_TEXTS_SOON = 1,  /* somebody waits, and a better index is on its way */
};

/* Appends TEXTS, of which none crosses a multiple of INDEX_TEXT_BLOCK_BYTES, packed to PACKED and
   how they are cut to DIRECTORY.  Returns 0 or -ENOMEM. */
int index_texts_pack(struct span texts, enum index_texts_effort effort, struct buf *directory,
                     struct buf *packed);

#endif
