/* SPDX-License-Identifier: Apache-2.0 */
/* A block is the samples of one series in one window, column after column:

     version  1
     rows     n
     unit     the weight of one record in most rows
     node     n deltas: the first is absolute, 0 where a node has samples of unlike weight
     count    n
     residue  n zigzags: weight - count * unit

   A sampler at a fixed rate gives every record the same weight, so the residues are zeros, which
   zstd makes vanish; only rows made from clocks ([kernel], [unsampled]) have one.  Nodes are the
   row numbers of the day's node table, close together for one program.

   Decoding trusts nothing, because a file may be damaged: nodes must fit 32 bits, and
   nothing may follow the last column.  count * unit may wrap, in 64 bits, on both sides alike. */
#include "block.h"

#include "common/buf.h"
#include "proto/compress.h"
#include "proto/varint.h"
#include "store_read.h"

#include <errno.h>

enum {
  BLOCK_VERSION = 1,
  HEAD_CELLS = 3,
  ROW_CELLS = 3,
  VARINT_MAX = 10, /* bytes */
  STORE_LEVEL = 3, /* of zstd: the store is written once and read often */
};

/* The weight of one record in the first row that divides evenly: with a fixed rate, all do. */
static uint64_t find_unit(const struct store_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (rows[i].count > 0 && rows[i].weight % rows[i].count == 0)
      return rows[i].weight / rows[i].count;
  return 0;
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
  uint8_t *start = buf_reserve(ret, (HEAD_CELLS + count * ROW_CELLS) * VARINT_MAX), *to = start;
  uint64_t unit = find_unit(rows, count);
  if (start == NULL) return -ENOMEM;
  put_cell(&to, BLOCK_VERSION);
  put_cell(&to, count);
  put_cell(&to, unit);
  for (size_t i = 0; i < count; i++)
    put_cell(&to, i == 0 ? rows[0].node : rows[i].node - rows[i - 1].node);
  for (size_t i = 0; i < count; i++) put_cell(&to, rows[i].count);
  for (size_t i = 0; i < count; i++) /* wraps here, and wraps back when it is decoded */
    put_cell(&to, zigzag_encode((int64_t)(rows[i].weight - rows[i].count * unit)));
  ret->len += (size_t)(to - start);
  return 0;
}

/* Most cells are small: those take no call. */
static inline int take_cell(struct span *bytes, uint64_t *ret) {
  if (bytes->len == 0 || bytes->data[0] >= 0x80) return varint_decode(bytes, ret);
  *ret = bytes->data[0];
  bytes->data++;
  bytes->len--;
  return 0;
}

static int decode_nodes(struct span *bytes, struct store_row *rows, size_t count) {
  uint64_t node = 0, delta = 0;
  for (size_t i = 0; i < count; i++) {
    if (take_cell(bytes, &delta) != 0) return -EBADMSG;
    if (delta > UINT32_MAX) return -EBADMSG;
    node += delta;
    if (node >= UINT32_MAX) return -EBADMSG;
    rows[i].node = (uint32_t)node;
  }
  return 0;
}

static int decode_weights(struct span *bytes, struct store_row *rows, size_t count, uint64_t unit) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++)
    if (take_cell(bytes, &rows[i].count) != 0) return -EBADMSG;
  for (size_t i = 0; i < count; i++) {
    if (take_cell(bytes, &bits) != 0) return -EBADMSG;
    rows[i].weight = rows[i].count * unit + (uint64_t)zigzag_decode(bits);
  }
  return 0;
}

long block_decode(struct span bytes, struct store_row *rows, size_t max) {
  uint64_t version = 0, count = 0, unit = 0;
  if (varint_decode(&bytes, &version) != 0 || version != BLOCK_VERSION) return -EBADMSG;
  if (varint_decode(&bytes, &count) != 0 || varint_decode(&bytes, &unit) != 0) return -EBADMSG;
  if (count > max || count > BLOCK_ROWS_MAX) return -EOVERFLOW;
  if (decode_nodes(&bytes, rows, count) != 0) return -EBADMSG;
  if (decode_weights(&bytes, rows, count, unit) != 0) return -EBADMSG;
  return bytes.len == 0 ? (long)count : -EBADMSG;
}

int block_pack(struct packer *packer, struct span columns, struct buf *ret) {
  size_t start = ret->len;
  int error = packer_compress(packer, columns, STORE_LEVEL, ret);
  if (error != 0) return error;
  if (ret->len - start < columns.len) return 0;
  ret->len = start;
  buf_append(ret, columns.data, columns.len);
  return ret->failed ? -ENOMEM : 0;
}

int block_unpack(struct packer *packer, struct span packed, size_t raw_len, struct buf *ret) {
  if (packed.len != raw_len)
    return packer_decompress(packer, packed, raw_len, BLOCK_BYTES_MAX, ret);
  if (raw_len > BLOCK_BYTES_MAX) return -EOVERFLOW;
  buf_append(ret, packed.data, packed.len);
  return ret->failed ? -ENOMEM : 0;
}
