/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a symbol index: packed in the file, each block unpacked on its first lookup.

   STRINGS are NUL-terminated texts in blocks of INDEX_TEXT_BLOCK_BYTES, each a zstd frame; no text
   crosses a block. TEXTS is the directory of the blocks. A path's reference is its offset in the
   unpacked strings. A name's reference is offset << 1 | is readable. If it is readable, the raw
   name is the next string of the same block. */
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
  uint32_t bytes;  /* unpacked: INDEX_TEXT_BLOCK_BYTES, or the rest in the last block */
};

_Static_assert(sizeof(struct index_text_block) == 8, "on disk");

/* Bytes that all indexes of this process may unpack; half of them are for operators' files. Beyond
   the limit, blocks that are not unpacked yet stay unavailable. */
#define INDEX_TEXTS_MEMORY_MAX ((size_t)2 << 30)

/* The sender of the file of an index. */
enum {
  INDEX_TEXTS_OPERATORS = 0, /* or it is from upstream, or the collector's own */
  INDEX_TEXTS_SENDERS = 257, /* boards share the other numbers */
};

/* Borrows the packed bytes. */
struct index_texts {
  const struct index_text_block *directory;
  struct span packed;
  uint32_t count;
  uint32_t sender;            /* below INDEX_TEXTS_SENDERS; set before the first lookup */
  _Atomic(uint8_t *) *blocks; /* NULL: not unpacked yet */
};

/* Opens the texts PACKED with the blocks of DIRECTORY. Checks only their number. Returns 0,
   -EBADMSG or -ENOMEM. */
int index_texts_init(struct index_texts *texts, struct span directory, struct span packed);

/* Replaces INDEX_TEXTS_MEMORY_MAX as the limit. */
void index_texts_set_limit(size_t bytes);

struct index_texts_counts {
  uint64_t bytes;    /* unpacked now */
  uint64_t refusals; /* blocks rejected for lack of room */
};

/* Any thread. */
void index_texts_count(struct index_texts_counts *ret);

/* Returns the bytes of all texts when unpacked. */
uint64_t index_texts_bytes(const struct index_texts *texts);

/* Frees the unpacked blocks; texts that were returned become invalid. */
void index_texts_fini(struct index_texts *texts);

/* Unpacks block NUMBER, less than the count, until index_texts_fini. Returns its address, or
   NULL. */
const uint8_t *index_texts_take_block(const struct index_texts *texts, uint32_t number);

/* Returns the text at OFFSET, valid until index_texts_fini. The next text follows it directly, ""
   if there is none. Returns NULL if no text begins there, its block is damaged, or memory is short.
   Any thread. */
static inline const char *index_texts_at(const struct index_texts *texts, uint32_t offset) {
  uint32_t number = offset / INDEX_TEXT_BLOCK_BYTES, at = offset % INDEX_TEXT_BLOCK_BYTES;
  if (number >= texts->count || at >= texts->directory[number].bytes) return NULL;
  /* Acquire: pairs with the release in index_texts_take_block, so the texts are visible. */
  const uint8_t *block = atomic_load_explicit(&texts->blocks[number], memory_order_acquire);
  if (block == NULL) block = index_texts_take_block(texts, number);
  if (block == NULL || (at > 0 && block[at - 1] != '\0')) return NULL;
  return (const char *)block + at;
}

/* Appends the texts of block NUMBER, less than the count, to RET. Returns 0, -EBADMSG if the block
   is damaged, or -ENOMEM. Any thread. */
int index_texts_unpack(const struct index_texts *texts, uint32_t number, struct buf *ret);

enum index_texts_effort {
  INDEX_TEXTS_SMALL = 9, /* zstd levels: 12 saves one per cent and takes twice the time */
  INDEX_TEXTS_SOON = 1,  /* a caller waits, and a better index will follow */
};

/* Appends TEXTS, of which none crosses a multiple of INDEX_TEXT_BLOCK_BYTES, packed to PACKED, and
   their blocks to DIRECTORY. Returns 0 or -ENOMEM. */
int index_texts_pack(struct span texts, enum index_texts_effort effort, struct buf *directory,
                     struct buf *packed);

#endif
