/* SPDX-License-Identifier: Apache-2.0 */
/* If several lines have one address, the best is chosen when the index is built.  So a look-up is
   one binary search and one line read.  The line is parsed at each look-up: an index that
   contradicts its text finds nothing. */
#include "list_index.h"

#include "symbol_list.h"

#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 8, STAMP_PLACES = 64, STAMP_PLACE_BYTES = 256 };

static const char magic[MAGIC_BYTES + 1] = "fplist1\n";

struct head {
  char magic[MAGIC_BYTES];
  uint64_t text_bytes, stamp;
};

struct record {
  uint64_t address, offset;
};

_Static_assert(sizeof(struct head) == 24 && sizeof(struct record) == 16, "the layout of the file");

/* A checksum (FNV-1a) of samples from the first byte to the last, which identifies the text without
   reading all of it. */
static uint64_t stamp_of(struct span text) {
  uint64_t stamp = 0xcbf29ce484222325u;
  size_t place = text.len < STAMP_PLACE_BYTES ? text.len : STAMP_PLACE_BYTES;
  for (size_t i = 0; i < STAMP_PLACES; i++) {
    const uint8_t *at = text.data + (text.len - place) / (STAMP_PLACES - 1) * i;
    if (i == STAMP_PLACES - 1) at = text.data + text.len - place;
    for (size_t j = 0; j < place; j++) stamp = (stamp ^ at[j]) * 0x100000001b3u;
  }
  return stamp;
}

static bool line_at(struct span text, uint64_t offset, struct symbol_line *ret) {
  if (offset >= text.len) return false;
  struct span rest = span_of(text.data + offset, text.len - (size_t)offset);
  return symbol_line_next(&rest, ret) == 0 && symbol_line_rank(ret) > 0;
}

static int by_address_and_offset(const void *left, const void *right) {
  const struct record *a = left, *b = right;
  if (a->address != b->address) return a->address < b->address ? -1 : 1;
  return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int add_all(struct span text, struct buf *ret) {
  struct span rest = text;
  struct symbol_line line;
  uint64_t count = 0;
  for (int error; rest.len > 0;) {
    uint64_t offset = text.len - rest.len;
    error = symbol_line_next(&rest, &line);
    if (error != 0 || symbol_line_rank(&line) == 0) continue;
    if (++count > LIST_INDEX_SYMBOLS_MAX) return -EOVERFLOW;
    buf_append(ret, &(struct record){line.address, offset}, sizeof(struct record));
  }
  return ret->failed ? -ENOMEM : 0;
}

/* Keeps the best record of each address.  Returns the number of records left. */
static size_t keep_best(struct span text, struct record *records, size_t count) {
  struct symbol_line best = {0}, line;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!line_at(text, records[i].offset, &line)) continue;
    bool is_same = kept > 0 && records[kept - 1].address == records[i].address;
    if (is_same && symbol_line_compare(&line, &best) >= 0) continue;
    best = line;
    records[is_same ? kept - 1 : kept++] = records[i];
  }
  return kept;
}

int list_index_build(struct span text, struct buf *ret) {
  struct head head = {.text_bytes = text.len, .stamp = stamp_of(text)};
  memcpy(head.magic, magic, MAGIC_BYTES);
  buf_append(ret, &head, sizeof head);
  int error = add_all(text, ret);
  if (error != 0) return error;
  struct record *records = (struct record *)(void *)(ret->data + sizeof head);
  size_t count = (ret->len - sizeof head) / sizeof *records;
  qsort(records, count, sizeof *records, by_address_and_offset);
  ret->len = sizeof head + keep_best(text, records, count) * sizeof *records;
  return 0;
}

int list_index_parse(struct span bytes, struct span text, struct list_index *ret) {
  struct head head;
  struct span first;
  if (!span_take(&bytes, sizeof head, &first)) return -EBADMSG;
  memcpy(&head, first.data, sizeof head);
  if (memcmp(head.magic, magic, MAGIC_BYTES) != 0) return -EBADMSG;
  if (bytes.len % sizeof(struct record) != 0) return -EBADMSG;
  if (head.text_bytes != text.len || head.stamp != stamp_of(text)) return -ESTALE;
  *ret = (struct list_index){.text = text, .records = bytes};
  return 0;
}

static struct record record_of(const struct list_index *index, size_t number) {
  struct record record;
  memcpy(&record, index->records.data + number * sizeof record, sizeof record);
  return record;
}

int list_index_find(const struct list_index *index, uint64_t address, struct symbol_line *ret) {
  size_t low = 0, high = index->records.len / sizeof(struct record);
  while (low < high) { /* records before LOW are at or below the address, from HIGH on above */
    size_t middle = low + (high - low) / 2;
    if (record_of(index, middle).address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  struct symbol_line line;
  if (low == 0) return -ENOENT;
  struct record record = record_of(index, low - 1);
  if (!line_at(index->text, record.offset, &line) || line.address != record.address) return -ENOENT;
  if (line.address > address || !symbol_list_reaches(&line, address)) return -ENOENT;
  *ret = line;
  return 0;
}
