/* SPDX-License-Identifier: Apache-2.0 */
/* One table (DWARF 5, 7.28): its length in 4 bytes (or 4 of ones and 8), version, bytes of an
   address and of a segment, the number of lists; the offset of each, relative to here; the lists. A
   split unit refers to a list by its number, so lists may be moved. */
#include "range_lists.h"

#include <dwarf.h>
#include <errno.h>

enum { VERSION = 5, HEADER_BYTES_AFTER_LENGTH = 8 };

struct table {
  struct span rest; /* behind the header: the offsets, then the lists */
  bool is_big_endian, is_64;
  unsigned address_bytes;
  uint32_t count;
};

static uint64_t number_at(const struct table *table, const uint8_t *bytes, unsigned len) {
  uint64_t number = 0;
  for (unsigned i = 0; i < len; i++)
    number = number << 8 | bytes[table->is_big_endian ? i : len - 1 - i];
  return number;
}

static void put_number(const struct table *table, uint8_t *to, uint64_t number, unsigned len) {
  for (unsigned i = 0; i < len; i++)
    to[table->is_big_endian ? len - 1 - i : i] = (uint8_t)(number >> (8 * i));
}

static unsigned offset_bytes(const struct table *table) {
  return table->is_64 ? 8 : 4;
}

static int open_table(struct span lists, struct table *table) {
  struct span word;
  uint64_t len;
  if (!span_take(&lists, 4, &word)) return -EBADMSG;
  len = number_at(table, word.data, 4);
  table->is_64 = len == UINT32_MAX;
  if (table->is_64) {
    if (!span_take(&lists, 8, &word)) return -EBADMSG;
    len = number_at(table, word.data, 8);
  }
  if (len > lists.len || len < HEADER_BYTES_AFTER_LENGTH) return -EBADMSG;
  table->address_bytes = lists.data[2];
  table->count = (uint32_t)number_at(table, lists.data + 4, 4);
  table->rest =
      span_of(lists.data + HEADER_BYTES_AFTER_LENGTH, (size_t)len - HEADER_BYTES_AFTER_LENGTH);
  bool is_known = number_at(table, lists.data, 2) == VERSION && lists.data[3] == 0 &&
                  (table->address_bytes == 4 || table->address_bytes == 8);
  bool is_whole = table->count <= table->rest.len / offset_bytes(table);
  return is_known && is_whole ? 0 : -EBADMSG;
}

static bool skip_varint(struct span *list) {
  struct span byte;
  do
    if (!span_take(list, 1, &byte)) return false;
  while (byte.data[0] >= 0x80);
  return true;
}

/* Skips the operands of an entry: varints, then addresses. start_length has the address first. */
static bool skip_entry(const struct table *table, struct span *list, uint8_t kind) {
  struct span address;
  switch (kind) {
  case DW_RLE_base_addressx:
    return skip_varint(list);
  case DW_RLE_startx_endx:
  case DW_RLE_startx_length:
  case DW_RLE_offset_pair:
    return skip_varint(list) && skip_varint(list);
  case DW_RLE_base_address:
    return span_take(list, table->address_bytes, &address);
  case DW_RLE_start_end:
    return span_take(list, 2 * table->address_bytes, &address);
  case DW_RLE_start_length:
    return span_take(list, table->address_bytes, &address) && skip_varint(list);
  default:
    return false;
  }
}

/* Finds the list at OFFSET behind the header. RET includes its end mark. */
static bool cut_list(const struct table *table, uint64_t offset, struct span *ret) {
  struct span list, kind;
  if (offset > table->rest.len) return false;
  list = span_of(table->rest.data + offset, table->rest.len - (size_t)offset);
  const uint8_t *start = list.data;
  for (;;) {
    if (!span_take(&list, 1, &kind)) return false;
    if (kind.data[0] == DW_RLE_end_of_list) break;
    if (!skip_entry(table, &list, kind.data[0])) return false;
  }
  *ret = span_of(start, (size_t)(list.data - start));
  return true;
}

/* Appends list NUMBER of TABLE and sets its offset, relative to FROM. */
static int add_list(const struct table *table, uint32_t number, uint64_t base, size_t from,
                    struct buf *ret) {
  uint8_t head[9] = {DW_RLE_base_address};
  unsigned len = offset_bytes(table);
  struct span list;
  if (!cut_list(table, number_at(table, table->rest.data + (size_t)number * len, len), &list))
    return -EBADMSG;
  if (ret->len + list.len > RANGE_LISTS_BYTES_MAX) return -EOVERFLOW;
  put_number(table, head + 1, base, table->address_bytes);
  size_t at = ret->len;
  buf_append(ret, head, 1 + table->address_bytes);
  buf_append(ret, list.data, list.len);
  if (ret->failed) return -ENOMEM;
  put_number(table, ret->data + from + (size_t)number * len, at - from, len);
  return 0;
}

int range_lists_rebase(struct span lists, bool is_big_endian, uint64_t base, struct buf *ret) {
  struct table table = {.is_big_endian = is_big_endian};
  int error = open_table(lists, &table);
  if (error != 0) return error;
  size_t start = ret->len, length_bytes = table.is_64 ? 12 : 4;
  size_t offsets = (size_t)table.count * offset_bytes(&table);
  buf_append(ret, lists.data, length_bytes + HEADER_BYTES_AFTER_LENGTH + offsets);
  if (ret->failed) return -ENOMEM;
  size_t from = start + length_bytes + HEADER_BYTES_AFTER_LENGTH;
  for (uint32_t i = 0; error == 0 && i < table.count; i++)
    error = add_list(&table, i, base, from, ret);
  if (error == 0)
    put_number(&table, ret->data + start + (table.is_64 ? 4 : 0), ret->len - start - length_bytes,
               offset_bytes(&table));
  return error;
}
