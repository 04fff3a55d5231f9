/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers in DWARF's encodings. */
#ifndef TABLES_CFI_CURSOR_H
#define TABLES_CFI_CURSOR_H

#include "common/span.h"

/* The remaining bytes. A read beyond them returns 0 and sets is_over, which is checked once, after
   all reads. */
struct cfi_cursor {
  const uint8_t *at, *end;
  bool is_over;
  bool is_big_endian;
};

/* Encodings of a pointer (DW_EH_PE_*). */
enum {
  CFI_POINTER_WORD = 0x00,
  CFI_POINTER_HERE = 0x10, /* relative to its own address */
  CFI_POINTER_BASE = 0x30, /* relative to a base */
  CFI_POINTER_ALIGNED = 0x50,
  CFI_POINTER_INDIRECT = 0x80,
  CFI_POINTER_FORMAT = 0x0f,
  CFI_POINTER_NONE = 0xff,
};

/* How to read the next pointer. */
struct cfi_pointer {
  uint8_t encoding;
  uint8_t word_bytes;
  uint64_t place; /* its own address */
  uint64_t base;  /* 0: none */
};

static inline struct cfi_cursor cfi_cursor_of(struct span bytes, bool is_big_endian) {
  const uint8_t *end = bytes.len > 0 ? bytes.data + bytes.len : bytes.data;
  return (struct cfi_cursor){bytes.data, end, false, is_big_endian};
}

static inline size_t cfi_left(const struct cfi_cursor *cursor) {
  return (size_t)(cursor->end - cursor->at);
}

static inline uint8_t cfi_byte(struct cfi_cursor *cursor) {
  if (cursor->at < cursor->end) return *cursor->at++;
  cursor->is_over = true;
  return 0;
}

/* The next LEN bytes. */
struct span cfi_bytes(struct cfi_cursor *cursor, uint64_t len);

/* An unsigned number of LEN bytes, 1 to 8. */
uint64_t cfi_number(struct cfi_cursor *cursor, size_t len);

uint64_t cfi_uleb(struct cfi_cursor *cursor);
int64_t cfi_sleb(struct cfi_cursor *cursor);

/* Reads a pointer, truncated to the word's size. Returns false, with the cursor at any position, if
   its encoding needs a running program. */
bool cfi_pointer_read(struct cfi_cursor *cursor, const struct cfi_pointer *how, uint64_t *ret);

#endif
