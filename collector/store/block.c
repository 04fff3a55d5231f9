/* SPDX-License-Identifier: Apache-2.0 */
/* A block is the samples of one series in one window, or in many, column after column:

     version  2
     rows     n
     unit     the weight of one record in most rows
     has_low  0: the last column is not there, for it would be zeros
     node     n deltas: the first is absolute, 0 where a node has samples of unlike weight
     count    n
     high     n: bits 16 and above of the residues' zigzags; residue: weight - count * unit
     low      n times two bytes, little-endian: the other bits of them

   A sampler at a fixed rate gives every record the same weight, so the residues are zeros, which
   zstd makes vanish; only rows made from clocks ([kernel], [unsampled]) have one.  perf's periods
   are varied, and then the residues, of some twenty bits, are most of a block, and noise.  As
   varints among the other columns (version 1 had one column of them) noise spoils what zstd makes
   of those; so its lower bits are packed as they are, in front of the rest:

     0xf0, length of low, low, the other columns compressed

   Nodes are the row numbers of the day's node table, close together for one program.

   Decoding trusts nothing, because a file may be damaged: nodes must fit 32 bits, and
   nothing may follow the last column.  count * unit may wrap, in 64 bits, on both sides alike. */
#include "block.h"

#include "common/buf.h"
#include "proto/compress.h"
#include "proto/varint.h"
#include "store_read.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
  BLOCK_VERSION = 2,
  HEAD_CELLS = 4,
  ROW_CELLS = 3,
  VARINT_MAX = 10, /* bytes */
  LOW_BITS = 16,
  LOW_BYTES = LOW_BITS / 8,
  LOW_FIRST = 0xf0, /* neither a zstd frame nor a version begins so */
  STORE_LEVEL = 3,  /* of zstd: the store is written once and read often */
};

/* The weight of one record where all rows have the same, as with a fixed rate; else of the average
   record, which leaves the smallest residues. */
static uint64_t find_unit(const struct store_row *rows, size_t count) {
  uint64_t unit = 0, weight = 0, records = 0;
  bool is_one = true;
  for (size_t i = 0; i < count; i++) {
    if (rows[i].count == 0) continue;
    if (records == 0) unit = rows[i].weight / rows[i].count;
    is_one = is_one && rows[i].weight == rows[i].count * unit;
    weight += rows[i].weight;
    records += rows[i].count;
  }
  return is_one || records == 0 ? unit : weight / records;
}

/* Wraps here, and wraps back when it is decoded. */
static uint64_t residue_of(const struct store_row *row, uint64_t unit) {
  return zigzag_encode((int64_t)(row->weight - row->count * unit));
}

static bool has_low_bits(const struct store_row *rows, size_t count, uint64_t unit) {
  for (size_t i = 0; i < count; i++)
    if ((residue_of(&rows[i], unit) & ((1 << LOW_BITS) - 1)) != 0) return true;
  return false;
}

/* Writes one cell at *TO, which moves on; there is room for it.  Most are of one byte. */
static inline void put_cell(uint8_t **to, uint64_t value) {
  while (value >= 0x80) {
    *(*to)++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *(*to)++ = (uint8_t)value;
}

int block_encode(const struct store_row *rows, size_t count, struct buf *ret) {
  if (count > BLOCK_ROWS_MAX) return -EOVERFLOW;
  size_t most = HEAD_CELLS * VARINT_MAX + count * (ROW_CELLS * VARINT_MAX + LOW_BYTES);
  uint8_t *start = buf_reserve(ret, most), *to = start;
  uint64_t unit = find_unit(rows, count);
  bool has_low = has_low_bits(rows, count, unit);
  if (start == NULL) return -ENOMEM;
  put_cell(&to, BLOCK_VERSION);
  put_cell(&to, count);
  put_cell(&to, unit);
  put_cell(&to, has_low);
  for (size_t i = 0; i < count; i++)
    put_cell(&to, i == 0 ? rows[0].node : rows[i].node - rows[i - 1].node);
  for (size_t i = 0; i < count; i++) put_cell(&to, rows[i].count);
  for (size_t i = 0; i < count; i++) put_cell(&to, residue_of(&rows[i], unit) >> LOW_BITS);
  for (size_t i = 0; i < count && has_low; i++) {
    uint64_t bits = residue_of(&rows[i], unit);
    *to++ = (uint8_t)bits;
    *to++ = (uint8_t)(bits >> 8);
  }
  ret->len += (size_t)(to - start);
  return 0;
}

/* A cell and where the next one is; NULL: it is damaged. */
struct cell {
  uint64_t value;
  const uint8_t *next;
};

static struct cell take_long(const uint8_t *at, const uint8_t *end) {
  struct span bytes = span_of(at, (size_t)(end - at));
  struct cell cell = {.next = NULL};
  if (varint_decode(&bytes, &cell.value) == 0) cell.next = bytes.data;
  return cell;
}

/* Most cells are of one byte or two, in no order that a CPU could guess: both take the same way. */
static inline struct cell take_cell(const uint8_t *at, const uint8_t *end) {
  if (end - at < 2 || (at[0] & at[1] & 0x80) != 0) return take_long(at, end);
  uint64_t is_two = at[0] >> 7, high = (at[1] & 0x7f) & -is_two;
  return (struct cell){(at[0] & 0x7f) | high << 7, at + 1 + is_two};
}

/* Whether the next eight cells are of one byte each: RET has them, the first one lowest. */
static inline bool are_bytes(const uint8_t *at, const uint8_t *end, uint64_t *ret) {
  uint64_t word;
  if (end - at < (ptrdiff_t)sizeof word) return false;
  memcpy(&word, at, sizeof word);
  *ret = le64toh(word);
  return (word & UINT64_C(0x8080808080808080)) == 0;
}

/* Each of these reads a column AT..END and returns where the next begins, or NULL. */

/* Deltas are small; eight of a byte do not reach past 32 bits from where they are read together. */
static const uint8_t *decode_nodes(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                   size_t count) {
  uint64_t node = 0, word;
  for (size_t i = 0; i < count;) {
    if (count - i >= 8 && node < UINT32_MAX - 8 * 0x80 && are_bytes(at, end, &word)) {
      for (unsigned j = 0; j < 8; j++) {
        node += word >> (8 * j) & 0x7f;
        rows[i + j].node = (uint32_t)node;
      }
      at += 8;
      i += 8;
      continue;
    }
    struct cell delta = take_cell(at, end);
    if (delta.next == NULL || delta.value > UINT32_MAX) return NULL;
    node += delta.value;
    if (node >= UINT32_MAX) return NULL;
    rows[i++].node = (uint32_t)node;
    at = delta.next;
  }
  return at;
}

static const uint8_t *decode_counts(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                    size_t count) {
  for (size_t i = 0; i < count && at != NULL; i++) {
    struct cell cell = take_cell(at, end);
    rows[i].count = cell.value;
    at = cell.next;
  }
  return at;
}

static const uint8_t *decode_weights_of_version_1(const uint8_t *at, const uint8_t *end,
                                                  struct store_row *rows, size_t count,
                                                  uint64_t unit) {
  for (size_t i = 0; i < count && at != NULL; i++) {
    struct cell cell = take_cell(at, end);
    rows[i].weight = rows[i].count * unit + (uint64_t)zigzag_decode(cell.value);
    at = cell.next;
  }
  return at;
}

/* Into the weights.  At a fixed rate all are zeros. */
static const uint8_t *decode_high(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                  size_t count) {
  uint64_t word;
  for (size_t i = 0; i < count;) {
    if (count - i >= 8 && are_bytes(at, end, &word)) {
      for (unsigned j = 0; j < 8; j++) rows[i + j].weight = word >> (8 * j) & 0x7f;
      at += 8;
      i += 8;
      continue;
    }
    struct cell cell = take_cell(at, end);
    if (cell.next == NULL || cell.value >> (64 - LOW_BITS) != 0) return NULL;
    rows[i++].weight = cell.value;
    at = cell.next;
  }
  return at;
}

static const uint8_t *decode_weights(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                     size_t count, uint64_t unit, bool has_low) {
  at = decode_high(at, end, rows, count);
  if (at == NULL || (has_low && (size_t)(end - at) < LOW_BYTES * count)) return NULL;
  for (size_t i = 0; i < count; i++) {
    uint64_t low = 0;
    if (has_low) low = (uint64_t)at[2 * i] | (uint64_t)at[2 * i + 1] << 8;
    rows[i].weight =
        rows[i].count * unit + (uint64_t)zigzag_decode(rows[i].weight << LOW_BITS | low);
  }
  return has_low ? at + LOW_BYTES * count : at;
}

long block_decode(struct span bytes, struct store_row *rows, size_t max) {
  uint64_t version = 0, count = 0, unit = 0, has_low = 0;
  if (varint_decode(&bytes, &version) != 0 || version < 1 || version > BLOCK_VERSION)
    return -EBADMSG;
  if (varint_decode(&bytes, &count) != 0 || varint_decode(&bytes, &unit) != 0) return -EBADMSG;
  if (version > 1 && (varint_decode(&bytes, &has_low) != 0 || has_low > 1)) return -EBADMSG;
  if (count > max || count > BLOCK_ROWS_MAX) return -EOVERFLOW;
  const uint8_t *at = bytes.data, *end = bytes.data + bytes.len;
  at = decode_nodes(at, end, rows, count);
  if (at != NULL) at = decode_counts(at, end, rows, count);
  if (at != NULL)
    at = version == 1 ? decode_weights_of_version_1(at, end, rows, count, unit)
                      : decode_weights(at, end, rows, count, unit, has_low != 0);
  return at == end && at != NULL ? (long)count : -EBADMSG;
}

/* How many bytes at the end of COLUMNS are noise. */
static size_t low_len_of(struct span columns) {
  uint64_t version = 0, count = 0, unit = 0, has_low = 0;
  if (varint_decode(&columns, &version) != 0 || version < 2) return 0;
  if (varint_decode(&columns, &count) != 0 || varint_decode(&columns, &unit) != 0) return 0;
  if (varint_decode(&columns, &has_low) != 0 || has_low == 0) return 0;
  return count <= columns.len / LOW_BYTES ? (size_t)count * LOW_BYTES : 0;
}

int block_pack(struct packer *packer, struct span columns, struct buf *ret) {
  size_t start = ret->len, low_len = low_len_of(columns);
  struct span head = span_of(columns.data, columns.len - low_len);
  if (low_len > 0) {
    buf_append_byte(ret, LOW_FIRST);
    varint_encode(ret, low_len);
    buf_append(ret, columns.data + head.len, low_len);
  }
  int error = ret->failed ? -ENOMEM : packer_compress(packer, head, STORE_LEVEL, ret);
  if (error != 0) return error;
  if (ret->len - start < columns.len) return 0;
  ret->len = start;
  buf_append(ret, columns.data, columns.len);
  return ret->failed ? -ENOMEM : 0;
}

int block_unpack(struct packer *packer, struct span packed, size_t raw_len, struct buf *ret) {
  uint64_t low_len = 0;
  struct span low = {NULL, 0};
  if (raw_len > BLOCK_BYTES_MAX) return -EOVERFLOW;
  if (packed.len != raw_len && packed.len > 0 && packed.data[0] == LOW_FIRST) {
    packed = span_of(packed.data + 1, packed.len - 1);
    if (varint_decode(&packed, &low_len) != 0) return -EBADMSG;
    if (low_len > packed.len || low_len > raw_len) return -EBADMSG;
    low = span_of(packed.data, low_len);
    packed = span_of(packed.data + low_len, packed.len - low_len);
    int error = packer_decompress(packer, packed, raw_len - low_len, BLOCK_BYTES_MAX, ret);
    if (error != 0) return error;
  } else if (packed.len != raw_len) {
    return packer_decompress(packer, packed, raw_len, BLOCK_BYTES_MAX, ret);
  } else {
    low = packed;
  }
  buf_append(ret, low.data, low.len);
  return ret->failed ? -ENOMEM : 0;
}
