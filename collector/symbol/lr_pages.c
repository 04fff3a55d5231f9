/* SPDX-License-Identifier: Apache-2.0 */
/* Entries are added by ascending address, so the first entry of a later page completes a page. */
#include "lr_pages.h"

#include <errno.h>
#include <stdlib.h>

/* A table with more pages than this must have at least one entry for each page on average. */
enum { SPARSE_PAGES_MAX = 4096 };

int lr_pages_begin(struct lr_pages *pages, uint64_t low, uint64_t high, uint32_t machine) {
  uint64_t base = low & ~(uint64_t)(LR_PAGE_BYTES - 1);
  *pages = (struct lr_pages){.head = {.base = base, .machine = machine}, .at = base};
  if (low >= high || (high - 1 - base) >> LR_PAGE_BITS >= LR_PAGES_MAX) return -EINVAL;
  pages->head.page_count = (uint32_t)((high - 1 - base) >> LR_PAGE_BITS) + 1;
  pages->firsts = calloc(pages->head.page_count + (size_t)1, sizeof *pages->firsts);
  return pages->firsts == NULL ? -ENOMEM : 0;
}

void lr_pages_fini(struct lr_pages *pages) {
  free(pages->firsts);
  buf_fini(&pages->entries);
  *pages = (struct lr_pages){.page = 0};
}

static uint64_t start_of(const struct lr_pages *pages, uint32_t page) {
  return pages->head.base + ((uint64_t)page << LR_PAGE_BITS);
}

static bool has_room(const struct lr_pages *pages, uint64_t address) {
  return address >= pages->at && address < start_of(pages, pages->head.page_count) &&
         pages->head.entry_count < LR_ENTRIES_MAX;
}

static void append_place(struct lr_pages *pages, uint64_t address, uint8_t place) {
  uint16_t entry = (uint16_t)(address % LR_PAGE_BYTES | (unsigned)place << LR_PAGE_BITS);
  buf_append(&pages->entries, &entry, sizeof entry);
  pages->head.entry_count++;
}

static void open_page(struct lr_pages *pages) {
  pages->firsts[++pages->page] = pages->head.entry_count;
}

/* Repeats the last place at the start of each page up to that of ADDRESS. */
static void reach(struct lr_pages *pages, uint64_t address) {
  while (start_of(pages, pages->page + 1) <= address) {
    open_page(pages);
    uint64_t start = start_of(pages, pages->page);
    if (pages->place != LR_UNKNOWN && start < address && pages->head.entry_count < LR_ENTRIES_MAX)
      append_place(pages, start, pages->place);
  }
}

void lr_pages_add_place(struct lr_pages *pages, uint64_t address, enum lr_place place) {
  if (!has_room(pages, address) || place == pages->place) return;
  reach(pages, address);
  pages->at = address;
  pages->place = (uint8_t)place;
  append_place(pages, address, pages->place);
}

void lr_pages_add_call(struct lr_pages *pages, uint64_t address, uint32_t target) {
  bool is_there = pages->head.entry_count > 0 && pages->at == address;
  if (!has_room(pages, address) || is_there) return;
  while (start_of(pages, pages->page + 1) <= address) open_page(pages);
  uint32_t entry = (uint32_t)(address % LR_PAGE_BYTES) | target << LR_PAGE_BITS;
  buf_append(&pages->entries, &entry, sizeof entry);
  pages->at = address;
  pages->head.entry_count++;
}

int lr_pages_finish(struct lr_pages *pages, struct buf *ret) {
  uint32_t count = pages->head.page_count;
  if (pages->head.entry_count == 0) return 0;
  if (count > SPARSE_PAGES_MAX && count > pages->head.entry_count) return 0;
  reach(pages, start_of(pages, count));
  buf_append(ret, &pages->head, sizeof pages->head);
  buf_append(ret, pages->firsts, (count + (size_t)1) * sizeof *pages->firsts);
  buf_append(ret, pages->entries.data, pages->entries.len);
  return pages->entries.failed || ret->failed ? -ENOMEM : 0;
}
