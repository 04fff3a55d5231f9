/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of rows and nodes. Speed matters: a lookup reads half a block. Most varints have one
   byte, so these take a fast path. */
#include "index_rows.h"

#include "proto/varint.h"

/* A varint takes at most 10 bytes, and a row at most four varints and a byte. If this many bytes
   remain, a row needs no bounds checks. */
enum { VARINT_BYTES_MAX = 10, ROW_BYTES_MAX = 4 * VARINT_BYTES_MAX + 1 };

static bool take_long(const uint8_t **at, const uint8_t *end, uint64_t *ret) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *ret = value;
      return true;
    }
  }
  return false;
}

/* Takes a varint that ends before END. IS_FAR, a constant: at least VARINT_BYTES_MAX bytes
   remain. */
static inline __attribute__((always_inline)) bool take(const uint8_t **at, const uint8_t *end,
                                                       bool is_far, uint64_t *ret) {
  if ((is_far || *at < end) && **at < 0x80) {
    *ret = *(*at)++;
    return true;
  }
  if (!is_far || (*at)[1] >= 0x80) return take_long(at, end, ret);
  *ret = ((*at)[0] & 0x7f) | (uint64_t)(*at)[1] << 7;
  *at += 2;
  return true;
}

void row_reader_init(struct row_reader *reader, struct span rows, const struct index_block *block) {
  size_t offset = block->offset < rows.len ? block->offset : rows.len;
  *reader = (struct row_reader){.at = rows.data + offset,
                                .end = rows.data + rows.len,
                                .address = block->address,
                                .told_node = block->node};
}

static inline __attribute__((always_inline)) bool
read_new_place(struct row_reader *reader, const uint8_t **at, bool is_far, struct row_place *ret) {
  uint64_t told;
  if (!take(at, reader->end, is_far, &told)) return false;
  *ret = (struct row_place){INDEX_NO_NODE, 0, reader->contexts[0].line};
  if (told == 0) return true;
  reader->told_node += (uint32_t)zigzag_decode(told - 1);
  ret->node = reader->told_node;
  return true;
}

/* Reads a row that is not short if its address is at most LIMIT. */
static inline __attribute__((always_inline)) bool read_long(struct row_reader *reader,
                                                            uint64_t limit, bool is_far) {
  const uint8_t *at = reader->at, *end = reader->end;
  uint64_t control = (uint64_t)*at++ - INDEX_SHORT_ROWS, more, distance = 0, file;
  if (control >= INDEX_CONTROLS) {
    if (!take(&at, end, is_far, &more)) return false;
    control += more * INDEX_CONTROLS;
  }
  if (reader->count > 0 && !take(&at, end, is_far, &distance)) return false;
  if (reader->address + distance > limit) return false;
  unsigned context = control & 3;
  struct row_place place;
  if (context < INDEX_CONTEXTS)
    place = reader->contexts[context];
  else if (!read_new_place(reader, &at, is_far, &place))
    return false;
  place.line += (uint32_t)zigzag_decode(control >> 3);
  if ((control & 4) != 0) {
    if (!take(&at, end, is_far, &file)) return false;
    place.file = (uint32_t)file;
  }
  if (context >= 2) reader->contexts[2] = reader->contexts[1];
  if (context >= 1) reader->contexts[1] = reader->contexts[0];
  reader->contexts[0] = place;
  reader->address += distance;
  reader->at = at;
  reader->count++;
  return true;
}

/* Reads rows with addresses up to LIMIT, until COUNT rows are read. */
static inline __attribute__((always_inline)) void read_rows(struct row_reader *reader,
                                                            uint64_t limit, uint32_t count) {
  while (reader->count < count && reader->at < reader->end) {
    unsigned first = *reader->at;
    if (first < INDEX_SHORT_ROWS) {
      uint64_t address = reader->address + 1 + first / INDEX_SHORT_LINES;
      if (address > limit || reader->count == 0) return;
      reader->address = address;
      reader->contexts[0].line += first % INDEX_SHORT_LINES + (unsigned)INDEX_SHORT_FIRST_LINE;
      reader->count++;
      reader->at++;
    } else if (reader->end - reader->at > ROW_BYTES_MAX) {
      if (!read_long(reader, limit, true)) return;
    } else if (!read_long(reader, limit, false)) {
      return;
    }
  }
}

bool row_reader_next(struct row_reader *reader) {
  uint32_t before = reader->count;
  if (before == INDEX_BLOCK_ROWS) return false;
  read_rows(reader, UINT64_MAX, before + 1);
  return reader->count > before;
}

bool row_reader_seek(struct row_reader *reader, uint64_t address) {
  read_rows(reader, address, INDEX_BLOCK_ROWS);
  return reader->count > 0;
}

static bool read_inlined(const uint8_t *at, const uint8_t *end, uint32_t node,
                         struct index_node *ret) {
  uint64_t back, line, file = 0;
  if (!take(&at, end, false, &back) || back == 0 || back >= node) return false;
  if (!take(&at, end, false, &line)) return false;
  ret->has_call_file = (line & 1) != 0;
  if (ret->has_call_file && !take(&at, end, false, &file)) return false;
  ret->caller = node - (uint32_t)back;
  ret->call_line = zigzag_decode(line >> 1);
  ret->call_file = (uint32_t)file;
  return true;
}

bool index_node_read(struct span nodes, uint32_t node, struct index_node *ret) {
  uint64_t tag, name = 0;
  if (node == INDEX_NO_NODE || node >= nodes.len) return false;
  const uint8_t *at = nodes.data + node, *end = nodes.data + nodes.len;
  if (!take(&at, end, false, &tag)) return false;
  ret->is_inlined = (tag & 1) == 0;
  ret->function = (uint32_t)(tag >> 1);
  if (ret->is_inlined) return read_inlined(at, end, node, ret);
  ret->has_symbol_name = (tag & 2) != 0;
  ret->function = (uint32_t)(tag >> 2) - 1;
  if (ret->has_symbol_name && !take(&at, end, false, &name)) return false;
  ret->symbol_name = (uint32_t)name;
  return take(&at, end, false, &ret->start) && take(&at, end, false, &ret->size);
}
