/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of rows and nodes.  Speed matters here: a lookup reads half a block, so varints of one
   byte, which most are, take the short way. */
#include "index_rows.h"

#include "proto/varint.h"

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

static inline bool take(const uint8_t **at, const uint8_t *end, uint64_t *ret) {
  if (*at < end && **at < 0x80) {
    *ret = *(*at)++;
    return true;
  }
  return take_long(at, end, ret);
}

void row_reader_init(struct row_reader *reader, struct span rows, const struct index_block *block) {
  size_t offset = block->offset < rows.len ? block->offset : rows.len;
  *reader = (struct row_reader){.at = rows.data + offset,
                                .end = rows.data + rows.len,
                                .row.address = block->address,
                                .told_node = block->node};
}

static bool read_new_context(struct row_reader *reader, struct index_row *row) {
  uint64_t told;
  if (!take(&reader->at, reader->end, &told)) return false;
  row->node = INDEX_NO_NODE;
  if (told == 0) return true;
  reader->told_node += (uint32_t)zigzag_decode(told - 1);
  row->node = reader->told_node;
  return true;
}

bool row_reader_next(struct row_reader *reader) {
  uint64_t distance = 0, control, file;
  if (reader->count == INDEX_BLOCK_ROWS) return false;
  if (reader->count > 0 && !take(&reader->at, reader->end, &distance)) return false;
  if (!take(&reader->at, reader->end, &control)) return false;
  unsigned context = control & 3;
  struct index_row row = context < INDEX_CONTEXTS ? reader->contexts[context] : reader->row;
  if (context == INDEX_CONTEXTS && !read_new_context(reader, &row)) return false;
  row.address = reader->row.address + distance;
  row.line += (uint32_t)zigzag_decode(control >> 3);
  if ((control & 4) != 0) {
    if (!take(&reader->at, reader->end, &file)) return false;
    row.file = (uint32_t)file;
  }
  unsigned last = context < INDEX_CONTEXTS ? context : INDEX_CONTEXTS - 1;
  for (unsigned i = last; i > 0; i--) reader->contexts[i] = reader->contexts[i - 1];
  reader->contexts[0] = row;
  reader->row = row;
  reader->count++;
  return true;
}

static bool read_inlined(const uint8_t *at, const uint8_t *end, uint32_t node,
                         struct index_node *ret) {
  uint64_t back, line, file = 0;
  if (!take(&at, end, &back) || back == 0 || back >= node) return false;
  if (!take(&at, end, &line)) return false;
  ret->has_call_file = (line & 1) != 0;
  if (ret->has_call_file && !take(&at, end, &file)) return false;
  ret->caller = node - (uint32_t)back;
  ret->call_line = zigzag_decode(line >> 1);
  ret->call_file = (uint32_t)file;
  return true;
}

bool index_node_read(struct span nodes, uint32_t node, struct index_node *ret) {
  uint64_t tag, name;
  if (node == INDEX_NO_NODE || node >= nodes.len) return false;
  const uint8_t *at = nodes.data + node, *end = nodes.data + nodes.len;
  if (!take(&at, end, &tag)) return false;
  ret->is_inlined = (tag & 1) == 0;
  ret->function = (uint32_t)(tag >> 1);
  if (ret->is_inlined) return read_inlined(at, end, node, ret);
  ret->function--;
  if (!take(&at, end, &name)) return false;
  ret->symbol_name = (uint32_t)name;
  return take(&at, end, &ret->start) && take(&at, end, &ret->size);
}
