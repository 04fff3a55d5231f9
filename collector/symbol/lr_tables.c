/* SPDX-License-Identifier: Apache-2.0 */
/* Only lengths are checked: first entries are clamped to the number of entries. So a corrupt table
   gives wrong results, but no lookup reads outside it. */
#include "lr_tables.h"

#include "index_format.h"

static const struct index_section *find_section(struct span index, uint32_t kind) {
  const struct index_header *header = (const struct index_header *)(const void *)index.data;
  const struct index_section *table = (const struct index_section *)(const void *)(header + 1);
  for (uint32_t i = 0; i < header->section_count; i++)
    if (table[i].kind == kind) return &table[i];
  return NULL;
}

/* Returns the table at the start of BYTES, 8-aligned. */
static struct lr_table parse_table(struct span bytes, size_t entry_bytes) {
  const struct lr_table none = {.firsts = NULL};
  struct lr_table table = none;
  if (bytes.len < sizeof table.head) return none;
  memcpy(&table.head, bytes.data, sizeof table.head);
  if (table.head.page_count == 0 || table.head.page_count > LR_PAGES_MAX) return none;
  if (table.head.entry_count > LR_ENTRIES_MAX) return none;
  uint64_t firsts_bytes = (table.head.page_count + UINT64_C(1)) * sizeof(uint32_t);
  uint64_t entries_at = sizeof table.head + firsts_bytes;
  uint64_t end = entries_at + table.head.entry_count * (uint64_t)entry_bytes;
  if (bytes.len < end) return none;
  table.firsts = (const uint32_t *)(const void *)(bytes.data + sizeof table.head);
  table.entries = bytes.data + entries_at;
  end = (end + 7) & ~UINT64_C(7);
  if (end < bytes.len) table.rest = span_of(bytes.data + end, bytes.len - (size_t)end);
  return table;
}

static struct lr_table parse_section(struct span index, uint32_t kind, size_t entry_bytes) {
  const struct index_section *section = find_section(index, kind);
  if (section == NULL || section->offset % 8 != 0 || section->offset > index.len ||
      section->bytes > index.len - section->offset)
    return (struct lr_table){.firsts = NULL};
  struct span bytes = span_of(index.data + section->offset, (size_t)section->bytes);
  return parse_table(bytes, entry_bytes);
}

void lr_tables_parse(struct span index, struct lr_tables *ret) {
  ret->places = parse_section(index, INDEX_LR_PLACES, sizeof(uint16_t));
  ret->calls = parse_section(index, INDEX_LR_CALLS, sizeof(uint32_t));
}

static bool has_page(const struct lr_table *table, uint64_t address, uint64_t *ret) {
  *ret = (address - table->head.base) >> LR_PAGE_BITS;
  return address >= table->head.base && *ret < table->head.page_count;
}

/* Replaces TABLE by the table that contains ADDRESS. FIRST and END: the entries of its page.
   Returns false if there are none. */
static bool find_page(struct lr_table *table, size_t entry_bytes, uint64_t address, uint32_t *first,
                      uint32_t *end) {
  uint64_t page;
  for (unsigned i = 1; table->firsts != NULL && !has_page(table, address, &page); i++)
    *table = i < LR_RANGES_MAX ? parse_table(table->rest, entry_bytes)
                               : (struct lr_table){.firsts = NULL};
  if (table->firsts == NULL) return false;
  *first = table->firsts[page];
  *end = table->firsts[page + 1];
  if (*end > table->head.entry_count) *end = table->head.entry_count;
  return *first < *end;
}

enum lr_place lr_tables_place(const struct lr_tables *tables, uint64_t address) {
  struct lr_table table = tables->places;
  uint32_t low, high;
  if (!find_page(&table, sizeof(uint16_t), address, &low, &high)) return LR_UNKNOWN;
  const uint16_t *entries = table.entries;
  uint32_t first = low, at = (uint32_t)((address - table.head.base) % LR_PAGE_BYTES);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((entries[middle] & (LR_PAGE_BYTES - 1U)) <= at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == first) return LR_UNKNOWN;
  uint32_t place = entries[low - 1] >> LR_PAGE_BITS;
  return place < LR_PLACES ? (enum lr_place)place : LR_UNKNOWN;
}

enum lr_call lr_tables_call(const struct lr_tables *tables, uint64_t address, uint64_t function) {
  struct lr_table table = tables->calls;
  uint32_t low, high;
  if (table.firsts == NULL) return LR_CALL_UNKNOWN;
  if (!find_page(&table, sizeof(uint32_t), address, &low, &high)) return LR_CALL_NONE;
  const uint32_t *entries = table.entries;
  uint32_t end = high, at = (uint32_t)((address - table.head.base) % LR_PAGE_BYTES);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((entries[middle] & (LR_PAGE_BYTES - 1U)) < at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == end || (entries[low] & (LR_PAGE_BYTES - 1U)) != at) return LR_CALL_NONE;
  uint32_t target = entries[low] >> LR_PAGE_BITS;
  if (target == 0) return LR_CALL_ANYWHERE;
  return target == lr_target(function) ? LR_CALL_HERE : LR_CALL_ELSEWHERE;
}

uint32_t lr_tables_machine(const struct lr_tables *tables) {
  if (tables->calls.firsts != NULL) return tables->calls.head.machine;
  return tables->places.firsts != NULL ? tables->places.head.machine : 0;
}
