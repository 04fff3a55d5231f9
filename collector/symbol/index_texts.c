/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names of C++ and Rust are long and similar: packed, they take a tenth to a twentieth.

     texts    |a\0b(int)\0_Z1bi\0  ...  \0|c\0 ...          \0|d\0|    blocks of 32 KiB
     packed   |zstd|zstd|zstd|

   Callers get a pointer to a name, so an unpacked block stays in place as long as the index. A
   thread that finds a block missing unpacks it; if two threads do so at once, one discards its
   copy. One atomic pointer refers to each block, so lookups are lock-free.

   The file may have compromised the worker that packed the names. So no block unpacks to more than
   its declared size, each ends with a NUL, and all indexes together have a limit.

   Unpacked blocks are never freed before the index, so one sender must not exhaust the limit. Files
   of operators and of boards are counted separately, each up to half of it. A board may unpack more
   while it holds no more than is free in the boards' half. One board alone can hold half of that,
   and some room always remains for a later one. */
#include "index_texts.h"

#include "common/buf.h"
#include "common/log.h"
#include "proto/compress.h"

#include <errno.h>
#include <stdlib.h>

/* Each counter is independent: relaxed. Word-sized, since some 32-bit machines lack wider atomic
   instructions. */
static _Atomic size_t limit_bytes = INDEX_TEXTS_MEMORY_MAX;
static _Atomic size_t held_bytes[INDEX_TEXTS_SENDERS]; /* by sender */
static _Atomic size_t board_bytes;                     /* of all senders except operators */
static _Atomic size_t refusals;

static size_t get(const _Atomic size_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static size_t add(_Atomic size_t *counter, size_t bytes) {
  return atomic_fetch_add_explicit(counter, bytes, memory_order_relaxed) + bytes;
}

static void give_back(uint32_t sender, size_t bytes) {
  atomic_fetch_sub_explicit(&held_bytes[sender], bytes, memory_order_relaxed);
  if (sender != INDEX_TEXTS_OPERATORS)
    atomic_fetch_sub_explicit(&board_bytes, bytes, memory_order_relaxed);
}

/* Reserves BYTES more for SENDER. Returns whether there was room. */
static bool reserve(uint32_t sender, size_t bytes) {
  size_t half = get(&limit_bytes) / 2, held = add(&held_bytes[sender], bytes);
  size_t all = sender == INDEX_TEXTS_OPERATORS ? 0 : add(&board_bytes, bytes);
  if (all <= half && held <= half - all) return true;
  give_back(sender, bytes);
  if (add(&refusals, 1) == 1)
    log_warn("symbols-full %s: their names take %llu MiB, and no more are unpacked until restart",
             sender == INDEX_TEXTS_OPERATORS ? "operators' files" : "a board's files",
             (unsigned long long)(get(&held_bytes[sender]) >> 20));
  return false;
}

void index_texts_set_limit(size_t bytes) {
  atomic_store_explicit(&limit_bytes, bytes, memory_order_relaxed);
}

void index_texts_count(struct index_texts_counts *ret) {
  *ret = (struct index_texts_counts){get(&held_bytes[INDEX_TEXTS_OPERATORS]) + get(&board_bytes),
                                     get(&refusals)};
}

int index_texts_init(struct index_texts *texts, struct span directory, struct span packed) {
  struct index_texts init = {
      .directory = (const struct index_text_block *)(const void *)directory.data,
      .packed = packed,
      .count = (uint32_t)(directory.len / sizeof *init.directory),
  };
  if (init.count == 0 || init.count > INDEX_TEXT_BLOCKS_MAX) return -EBADMSG;
  init.blocks = calloc(init.count, sizeof *init.blocks);
  if (init.blocks == NULL) return -ENOMEM;
  *texts = init;
  return 0;
}

void index_texts_fini(struct index_texts *texts) {
  size_t bytes = 0; /* reserved bytes */
  for (uint32_t i = 0; i < texts->count; i++) {
    uint8_t *block = atomic_load_explicit(&texts->blocks[i], memory_order_relaxed);
    if (block != NULL) bytes += texts->directory[i].bytes;
    free(block);
  }
  give_back(texts->sender, bytes);
  free(texts->blocks);
  *texts = (struct index_texts){0};
}

int index_texts_unpack(const struct index_texts *texts, uint32_t number, struct buf *ret) {
  const struct index_text_block *block = &texts->directory[number];
  bool is_last = number + 1 == texts->count;
  size_t end = is_last ? texts->packed.len : block[1].offset;
  if (block->offset > end || end > texts->packed.len || block->bytes == 0) return -EBADMSG;
  if (!is_last && block->bytes != INDEX_TEXT_BLOCK_BYTES) return -EBADMSG;
  struct span packed = span_of(texts->packed.data + block->offset, end - block->offset);
  int error = decompress(packed, block->bytes, INDEX_TEXT_BLOCK_BYTES, ret);
  if (error != 0) return error == -ENOMEM ? -ENOMEM : -EBADMSG;
  return ret->data[ret->len - 1] == '\0' ? 0 : -EBADMSG;
}

const uint8_t *index_texts_take_block(const struct index_texts *texts, uint32_t number) {
  struct buf buf = {0};
  size_t bytes = texts->directory[number].bytes;
  uint8_t *expected = NULL;
  if (bytes > INDEX_TEXT_BLOCK_BYTES || !reserve(texts->sender, bytes)) return NULL;
  if (index_texts_unpack(texts, number, &buf) == 0) {
    buf_append_byte(&buf, '\0'); /* empty text after the last one */
    uint8_t *fresh = buf.failed ? NULL : realloc(buf.data, buf.len);
    /* Release: pairs with the acquire in index_texts_at, so a reader of the pointer sees the
       texts. */
    if (fresh != NULL &&
        atomic_compare_exchange_strong_explicit(&texts->blocks[number], &expected, fresh,
                                                memory_order_acq_rel, memory_order_acquire))
      return fresh;
    if (fresh != NULL) buf.data = fresh;
  }
  give_back(texts->sender, bytes);
  buf_fini(&buf);
  return expected;
}

uint64_t index_texts_bytes(const struct index_texts *texts) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < texts->count; i++) bytes += texts->directory[i].bytes;
  return bytes;
}

int index_texts_pack(struct span texts, enum index_texts_effort effort, struct buf *directory,
                     struct buf *packed) {
  int error = 0;
  while (error == 0 && texts.len > 0) {
    struct index_text_block block = {(uint32_t)packed->len, INDEX_TEXT_BLOCK_BYTES};
    struct span raw;
    if (texts.len < block.bytes) block.bytes = (uint32_t)texts.len;
    span_take(&texts, block.bytes, &raw);
    buf_append(directory, &block, sizeof block);
    error = compress(raw, (int)effort, packed);
  }
  return error != 0 ? error : directory->failed || packed->failed ? -ENOMEM : 0;
}
