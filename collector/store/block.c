/* SPDX-License-Identifier: Apache-2.0 */
/* A block holds the samples of one series, of one window or several, column by column:

     version  3
     rows     n
     grain    nanoseconds: the unit of the weights ("step")
     unit     steps of the average record
     has_odd  0: the last column is absent because it would be all zeros
     node     n deltas: the first is absolute, 0 where a node has samples of different weights
     count    n
     step     n zigzags of weight / grain - count * unit
     odd      n: weight % grain

   A sampler at a fixed rate gives every record the same weight. perf's periods vary, and boards
   report them in quarters of one. So nearly all weights are small multiples of one number, the
   grain (find_grain). Only rows made from clocks ([kernel], [unsampled]) are odd. zstd compresses
   such columns to almost nothing.

   There is no grain if older boards reported varied periods to the nanosecond, or if a rate
   changed. Then the residues, of some twenty bits, are most of a block, and noise. As varints among
   the other columns (one column in version 1) this noise spoils zstd's compression of those. So its
   lower bits are stored unpacked, in front of the rest:

     version  2
     rows     n
     unit     the weight of one record in most rows
     has_low  0: the last column is absent because it would be all zeros
     node     n, as above
     count    n
     high     n: bits 16 and above of the residues' zigzags; residue: weight - count * unit
     low      n times two bytes, little-endian: the lower bits of the zigzags

     packed: 0xf0, length of low, low, the other columns compressed

   Nodes are row numbers of the day's node table, close together for one program.

   Decoding trusts nothing, because a file may be damaged: nodes must fit 32 bits, and nothing may
   follow the last column. Products may wrap at 64 bits, identically when encoding and decoding. */
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
  VERSION_FIRST = 1,
  VERSION_OF_NOISE = 2,
  VERSION_OF_STEPS = 3,
  HEAD_CELLS = 5,
  ROW_CELLS = 4,
  VARINT_MAX = 10, /* bytes */
  LOW_BITS = 16,
  LOW_BYTES = LOW_BITS / 8,
  LOW_FIRST = 0xf0, /* no zstd frame and no version begins with this byte */
  STORE_LEVEL = 3,  /* of zstd; the store is written once and read often */
  GRAIN_TRIES = 3,  /* rows tried as a start; at least one should not be odd */
  ODD_ONE_IN = 8,   /* share of the rows with records; if more are odd, there is no grain */
};
#define GRAIN_NS_MIN UINT64_C(4096) /* less would leave the noise of version 2 */

/* Returns the weight of one record if all rows have the same, as with a fixed rate. Otherwise
   returns the weight of the average record, which leaves the smallest residues. */
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

/* May wrap; decoding wraps back. */
static uint64_t residue_of(const struct store_row *row, uint64_t unit) {
  return zigzag_encode((int64_t)(row->weight - row->count * unit));
}

static bool has_low_bits(const struct store_row *rows, size_t count, uint64_t unit) {
  for (size_t i = 0; i < count; i++)
    if ((residue_of(&rows[i], unit) & ((1 << LOW_BITS) - 1)) != 0) return true;
  return false;
}

/* The fields of version 3's head. */
struct grain {
  uint64_t ns, unit;
  bool has_odd;
};

/* Returns the greatest common divisor, or 0 if it is less than GRAIN_NS_MIN. */
static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b >= GRAIN_NS_MIN) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return b == 0 ? a : 0;
}

/* Returns the common divisor of the records' weights, starting with row FIRST. Ignores up to
   ODD_MAX rows without a common divisor with the rows before; returns 0 if there are more. */
static uint64_t divisor_from(const struct store_row *rows, size_t count, size_t first,
                             size_t odd_max) {
  uint64_t divisor = rows[first].weight;
  for (size_t i = 0, odd = 0; i < count; i++) {
    uint64_t rest = rows[i].count > 0 ? rows[i].weight % divisor : 0;
    if (rest == 0) continue;
    uint64_t common = common_divisor(divisor, rest);
    if (common != 0)
      divisor = common;
    else if (++odd > odd_max)
      return 0;
  }
  return divisor;
}

static void describe(const struct store_row *rows, size_t count, struct grain *grain) {
  uint64_t steps = 0, records = 0;
  grain->has_odd = false;
  for (size_t i = 0; i < count; i++) {
    uint64_t own = rows[i].weight / grain->ns;
    grain->has_odd = grain->has_odd || own * grain->ns != rows[i].weight;
    if (rows[i].count == 0) continue;
    steps += own;
    records += rows[i].count;
  }
  grain->unit = records > 0 ? (steps + records / 2) / records : 0;
}

/* Returns whether nearly all weights of records are multiples of one number. */
static bool find_grain(const struct store_row *rows, size_t count, struct grain *ret) {
  size_t counted = 0;
  for (size_t i = 0; i < count; i++) counted += rows[i].count > 0;
  for (size_t i = 0, tries = 0; i < count && tries < GRAIN_TRIES; i++) {
    if (rows[i].count == 0 || rows[i].weight < GRAIN_NS_MIN) continue;
    tries++;
    ret->ns = divisor_from(rows, count, i, counted / ODD_ONE_IN);
    if (ret->ns == 0) continue;
    describe(rows, count, ret);
    return true;
  }
  return false;
}

/* Writes one cell at *TO and advances it. The caller has made room. Most cells take one byte. */
static inline void put_cell(uint8_t **to, uint64_t value) {
  while (value >= 0x80) {
    *(*to)++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *(*to)++ = (uint8_t)value;
}

/* Appends HEAD, nodes and counts, and makes room for the remaining columns. Returns their address,
   or NULL if memory is short. */
static uint8_t *put_front(struct buf *ret, const uint64_t *head, size_t head_count,
                          const struct store_row *rows) {
  size_t count = (size_t)head[1];
  uint8_t *to = buf_reserve(ret, HEAD_CELLS * VARINT_MAX + count * ROW_CELLS * VARINT_MAX);
  if (to == NULL) return NULL;
  for (size_t i = 0; i < head_count; i++) put_cell(&to, head[i]);
  for (size_t i = 0; i < count; i++)
    put_cell(&to, i == 0 ? rows[0].node : rows[i].node - rows[i - 1].node);
  for (size_t i = 0; i < count; i++) put_cell(&to, rows[i].count);
  return to;
}

static int encode_noise(const struct store_row *rows, size_t count, struct buf *ret) {
  uint64_t unit = find_unit(rows, count);
  bool has_low = has_low_bits(rows, count, unit);
  const uint64_t head[] = {VERSION_OF_NOISE, count, unit, has_low};
  uint8_t *to = put_front(ret, head, sizeof head / sizeof *head, rows);
  if (to == NULL) return -ENOMEM;
  for (size_t i = 0; i < count; i++) put_cell(&to, residue_of(&rows[i], unit) >> LOW_BITS);
  for (size_t i = 0; i < count && has_low; i++) {
    uint64_t bits = residue_of(&rows[i], unit);
    *to++ = (uint8_t)bits;
    *to++ = (uint8_t)(bits >> 8);
  }
  ret->len = (size_t)(to - ret->data);
  return 0;
}

static int encode_steps(const struct store_row *rows, size_t count, const struct grain *grain,
                        struct buf *ret) {
  const uint64_t head[] = {VERSION_OF_STEPS, count, grain->ns, grain->unit, grain->has_odd};
  uint8_t *to = put_front(ret, head, sizeof head / sizeof *head, rows);
  if (to == NULL) return -ENOMEM;
  for (size_t i = 0; i < count; i++)
    put_cell(&to,
             zigzag_encode((int64_t)(rows[i].weight / grain->ns - rows[i].count * grain->unit)));
  for (size_t i = 0; i < count && grain->has_odd; i++) put_cell(&to, rows[i].weight % grain->ns);
  ret->len = (size_t)(to - ret->data);
  return 0;
}

int block_encode(const struct store_row *rows, size_t count, struct buf *ret) {
  struct grain grain;
  if (count > BLOCK_ROWS_MAX) return -EOVERFLOW;
  return find_grain(rows, count, &grain) ? encode_steps(rows, count, &grain, ret)
                                         : encode_noise(rows, count, ret);
}

/* A cell and the address of the next; next is NULL if the cell is damaged. */
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

/* Most cells take one byte or two, in an order that a CPU cannot predict; so one path without a
   branch decodes both lengths. */
static inline struct cell take_cell(const uint8_t *at, const uint8_t *end) {
  if (end - at < 2 || (at[0] & at[1] & 0x80) != 0) return take_long(at, end);
  uint64_t is_two = at[0] >> 7, high = (at[1] & 0x7f) & -is_two;
  return (struct cell){(at[0] & 0x7f) | high << 7, at + 1 + is_two};
}

/* Returns whether the next eight cells take one byte each; sets RET to them, the first in the
   lowest byte. */
static inline bool are_bytes(const uint8_t *at, const uint8_t *end, uint64_t *ret) {
  uint64_t word;
  if (end - at < (ptrdiff_t)sizeof word) return false;
  memcpy(&word, at, sizeof word);
  *ret = le64toh(word);
  return (word & UINT64_C(0x8080808080808080)) == 0;
}

/* Each of these functions reads a column AT..END and returns the start of the next, or NULL. */

/* Deltas are small. Below the limit checked here, eight one-byte deltas stay within 32 bits. */
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

/* Reads cells into the weights. Most take one byte. */
static const uint8_t *decode_cells(const uint8_t *at, const uint8_t *end, struct store_row *rows,
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
    if (cell.next == NULL) return NULL;
    rows[i++].weight = cell.value;
    at = cell.next;
  }
  return at;
}

/* The fields before the columns; a field that the version lacks is 0. */
struct head {
  uint64_t version, count, unit, grain;
  uint64_t has_last; /* last column: low or odd */
};

/* Removes the head from BYTES. Returns 0 or -EBADMSG. */
static int take_head(struct span *bytes, struct head *ret) {
  struct head head = {.version = 0};
  if (varint_decode(bytes, &head.version) != 0 || head.version < VERSION_FIRST ||
      head.version > VERSION_OF_STEPS)
    return -EBADMSG;
  if (varint_decode(bytes, &head.count) != 0) return -EBADMSG;
  if (head.version == VERSION_OF_STEPS && varint_decode(bytes, &head.grain) != 0) return -EBADMSG;
  if (varint_decode(bytes, &head.unit) != 0) return -EBADMSG;
  if (head.version > VERSION_FIRST && varint_decode(bytes, &head.has_last) != 0) return -EBADMSG;
  *ret = head;
  return head.has_last > 1 ? -EBADMSG : 0;
}

static const uint8_t *decode_noise(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                   const struct head *head) {
  size_t count = (size_t)head->count;
  at = decode_cells(at, end, rows, count);
  if (at == NULL || (head->has_last && (size_t)(end - at) < LOW_BYTES * count)) return NULL;
  for (size_t i = 0; i < count; i++) {
    uint64_t low = 0;
    if (rows[i].weight >> (64 - LOW_BITS) != 0) return NULL;
    if (head->has_last) low = (uint64_t)at[2 * i] | (uint64_t)at[2 * i + 1] << 8;
    rows[i].weight =
        rows[i].count * head->unit + (uint64_t)zigzag_decode(rows[i].weight << LOW_BITS | low);
  }
  return head->has_last ? at + LOW_BYTES * count : at;
}

/* Adds the column to the weights. Nearly all cells are zero. */
static const uint8_t *decode_odd(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                 size_t count) {
  uint64_t word;
  for (size_t i = 0; i < count;) {
    if (count - i >= 8 && are_bytes(at, end, &word) && word == 0) {
      at += 8;
      i += 8;
      continue;
    }
    struct cell odd = take_cell(at, end);
    if (odd.next == NULL) return NULL;
    rows[i++].weight += odd.value;
    at = odd.next;
  }
  return at;
}

static const uint8_t *decode_steps(const uint8_t *at, const uint8_t *end, struct store_row *rows,
                                   const struct head *head) {
  size_t count = (size_t)head->count;
  at = decode_cells(at, end, rows, count);
  if (at == NULL) return NULL;
  for (size_t i = 0; i < count; i++)
    rows[i].weight =
        (rows[i].count * head->unit + (uint64_t)zigzag_decode(rows[i].weight)) * head->grain;
  return head->has_last ? decode_odd(at, end, rows, count) : at;
}

long block_decode(struct span bytes, struct store_row *rows, size_t max) {
  struct head head;
  if (take_head(&bytes, &head) != 0) return -EBADMSG;
  if (head.count > max || head.count > BLOCK_ROWS_MAX) return -EOVERFLOW;
  size_t count = (size_t)head.count;
  const uint8_t *at = bytes.data, *end = bytes.data + bytes.len;
  at = decode_nodes(at, end, rows, count);
  if (at != NULL) at = decode_counts(at, end, rows, count);
  if (at != NULL && head.version == VERSION_FIRST)
    at = decode_weights_of_version_1(at, end, rows, count, head.unit);
  else if (at != NULL && head.version == VERSION_OF_NOISE)
    at = decode_noise(at, end, rows, &head);
  else if (at != NULL)
    at = decode_steps(at, end, rows, &head);
  return at == end && at != NULL ? (long)count : -EBADMSG;
}

/* Returns the number of noise bytes at the end of COLUMNS. */
static size_t low_len_of(struct span columns) {
  struct head head;
  if (take_head(&columns, &head) != 0 || head.version != VERSION_OF_NOISE || !head.has_last)
    return 0;
  return head.count <= columns.len / LOW_BYTES ? (size_t)head.count * LOW_BYTES : 0;
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
