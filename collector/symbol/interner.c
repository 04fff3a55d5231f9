/* SPDX-License-Identifier: Apache-2.0 */
/* One buffer of entries and a hash table of their offsets. Colliding hashes cost only time, which
   the worker's CPU limit bounds. */
#include "interner.h"

#include <errno.h>

void interner_fini(struct interner *interner) {
  buf_fini(&interner->bytes);
  table_fini(&interner->table);
  *interner = (struct interner){0};
}

static int add(struct interner *interner, struct span entry, size_t tail, uint64_t key,
               uint32_t *ret) {
  size_t at = interner->bytes.len;
  buf_append(&interner->bytes, entry.data, entry.len);
  if (tail > 0) buf_append_byte(&interner->bytes, '\0');
  if (interner->bytes.failed) return -ENOMEM;
  *ret = (uint32_t)(tail > 0 ? at : at / entry.len);
  return table_add(&interner->table, key, *ret);
}

static bool is_string_at(const struct buf *bytes, uint32_t offset, struct span text) {
  if (bytes->len - offset <= text.len) return false;
  const uint8_t *at = bytes->data + offset;
  return at[text.len] == '\0' && memcmp(at, text.data, text.len) == 0;
}

/* Fills the block up if LEN more bytes would cross its end. */
static int keep_within_block(struct interner *interner, size_t len) {
  static const uint8_t zeros[64];
  uint32_t block = interner->block_bytes;
  if (block == 0) return 0;
  size_t room = block - interner->bytes.len % block;
  while (len > room && room > 0) {
    size_t step = room < sizeof zeros ? room : sizeof zeros;
    buf_append(&interner->bytes, zeros, step);
    room -= step;
  }
  return interner->bytes.failed ? -ENOMEM : 0;
}

int interner_string(struct interner *interner, struct span text, uint64_t limit,
                    uint32_t *ret_offset) {
  uint64_t key = table_hash(text.data, text.len, 0);
  uint32_t cursor;
  uint32_t offset = table_find(&interner->table, key, &cursor);
  for (; offset != TABLE_NONE; offset = table_next(&interner->table, key, &cursor)) {
    if (!is_string_at(&interner->bytes, offset, text)) continue;
    *ret_offset = offset;
    return 0;
  }
  int error = keep_within_block(interner, text.len + 1);
  if (error != 0) return error;
  if (interner->bytes.len + text.len + 1 > limit) return -EOVERFLOW;
  return add(interner, text, 1, key, ret_offset);
}

int interner_record(struct interner *interner, struct span record, uint64_t limit,
                    uint32_t *ret_number) {
  uint64_t key = table_hash(record.data, record.len, 0);
  uint32_t cursor;
  uint32_t number = table_find(&interner->table, key, &cursor);
  for (; number != TABLE_NONE; number = table_next(&interner->table, key, &cursor)) {
    const uint8_t *at = interner->bytes.data + number * record.len;
    if (memcmp(at, record.data, record.len) != 0) continue;
    *ret_number = number;
    return 0;
  }
  if (interner->bytes.len + record.len > limit) return -EOVERFLOW;
  return add(interner, record, 0, key, ret_number);
}
