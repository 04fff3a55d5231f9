/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is believed but lengths that were checked: first entries are cut to how many entries
   there are, so a wrong table gives wrong answers and no look leaves it. */
#include "lr_tables.h"

#include "index_format.h"

static const struct index_section *find_section(struct span index, uint32_t kind) {
  const struct index_header *header = (const struct index_header *)(const void *)index.data;
  const struct index_section *table = (const struct index_section *)(const void *)(header + 1);
  for (uint32_t i = 0; i < header->section_count; i++)
    if (table[i].kind == kind) return &table[i];
  return NULL;
}

static void parse_table(struct span index, uint32_t kind, size_t entry_bytes,
                        struct lr_table *ret) {
  const struct index_section *section = find_section(index, kind);
  struct lr_head head;
  if (section == NULL || section->offset % 8 != 0 || section->offset > index.len) return;
  if (section->bytes > index.len - section->offset || section->bytes < sizeof head) return;
  const uint8_t *bytes = index.data + section->offset;
  memcpy(&head, bytes, sizeof head);
  if (head.page_count == 0 || head.page_count > LR_PAGES_MAX) return;
  if (head.entry_count > LR_ENTRIES_MAX) return;
  uint64_t firsts_bytes = (head.page_count + UINT64_C(1)) * sizeof(uint32_t);
  if (section->bytes < sizeof head + firsts_bytes + head.entry_count * entry_bytes) return;
  *ret = (struct lr_table){head, (const uint32_t *)(const void *)(bytes + sizeof head),
                           bytes + sizeof head + firsts_bytes};
}

void lr_tables_parse(struct span index, struct lr_tables *ret) {
  *ret = (struct lr_tables){0};
  parse_table(index, INDEX_LR_PLACES, sizeof(uint16_t), &ret->places);
  parse_table(index, INDEX_LR_CALLS, sizeof(uint32_t), &ret->calls);
}

/* The entries of the page that ADDRESS is in.  Returns false when there is none. */
static bool find_page(const struct lr_table *table, uint64_t address, uint32_t *first,
                      uint32_t *end) {
  if (table->firsts == NULL || address < table->head.base) return false;
  uint64_t page = (address - table->head.base) >> LR_PAGE_BITS;
  if (page >= table->head.page_count) return false;
  *first = table->firsts[page];
  *end = table->firsts[page + 1];
  if (*end > table->head.entry_count) *end = table->head.entry_count;
  return *first < *end;
}

enum lr_place lr_tables_place(const struct lr_tables *tables, uint64_t address) {
  const uint16_t *entries = tables->places.entries;
  uint32_t low, high;
  if (!find_page(&tables->places, address, &low, &high)) return LR_UNKNOWN;
  uint32_t first = low, at = (uint32_t)((address - tables->places.head.base) % LR_PAGE_BYTES);
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
  const uint32_t *entries = tables->calls.entries;
  uint32_t low, high;
  if (tables->calls.firsts == NULL) return LR_CALL_UNKNOWN;
  if (!find_page(&tables->calls, address, &low, &high)) return LR_CALL_NONE;
  uint32_t end = high, at = (uint32_t)((address - tables->calls.head.base) % LR_PAGE_BYTES);
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
