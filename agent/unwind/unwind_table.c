/* SPDX-License-Identifier: Apache-2.0 */
/* The header is checked. A look-up then trusts only the header's counts. Rows of a corrupted file
   may contain anything, and may change at any time in shared memory. So the range of rows of a page
   is read once and limited to the existing rows, and a rule's number is checked before use.

   This runs in signal handlers: no libc, no loop longer than a binary search of one page's rows. */
#include "unwind_table.h"

#include <errno.h>
#include <stddef.h>

static uint64_t rows_at(const struct unwind_table *table) {
  return sizeof *table + ((uint64_t)table->page_count + 1) * sizeof(uint32_t);
}

int unwind_table_check(const struct unwind_table *table, uint64_t bytes, uint16_t machine) {
  if (bytes < sizeof *table || table->magic != UNWIND_TABLE_MAGIC) return -EBADMSG;
  if (table->version != UNWIND_TABLE_VERSION || table->machine != machine) return -EPROTO;
  if (table->page_count == 0 || table->page_count > UNWIND_PAGES_MAX ||
      table->row_count > UNWIND_ROWS_MAX || table->rule_count > UNWIND_RULES_MAX ||
      table->gap_count > UNWIND_GAPS_MAX || table->base % UNWIND_PAGE_BYTES != 0 ||
      table->rules_at % sizeof(uint32_t) != 0)
    return -EBADMSG;
  uint64_t rows_end = rows_at(table) + table->row_count * sizeof(struct unwind_row);
  uint64_t rules_end = table->rules_at + table->rule_count * (uint64_t)sizeof(struct unwind_rule);
  uint64_t gaps_end = rules_end + table->gap_count * (uint64_t)sizeof(struct unwind_gap);
  if (table->rules_at < rows_end || gaps_end != table->total_bytes || gaps_end > bytes)
    return -EBADMSG;
  return 0;
}

/* The last row in [FIRST, END) with an address of at most LOW; NULL if there is none. */
static const struct unwind_row *last_row(const struct unwind_row *first,
                                         const struct unwind_row *end, uint16_t low) {
  const struct unwind_row *begin = first;
  while (first < end) {
    const struct unwind_row *middle = first + (end - first) / 2;
    if (middle->low <= low)
      first = middle + 1;
    else
      end = middle;
  }
  return first == begin ? NULL : first - 1;
}

const struct unwind_rule *unwind_table_look(const struct unwind_table *head, const void *table,
                                            uint64_t address) {
  const volatile uint32_t *pages = (const void *)((const uint8_t *)table + sizeof *head);
  const struct unwind_row *rows = (const void *)((const uint8_t *)table + rows_at(head));
  const struct unwind_rule *rules = (const void *)((const uint8_t *)table + head->rules_at);
  if (address < head->base) return NULL;
  uint64_t page = (address - head->base) >> UNWIND_PAGE_BITS;
  if (page >= head->page_count) return NULL;
  uint32_t from = pages[page], to = pages[page + 1];
  if (to > head->row_count) to = head->row_count;
  if (from >= to) return NULL;
  const struct unwind_row *row =
      last_row(rows + from, rows + to, (uint16_t)(address % UNWIND_PAGE_BYTES));
  if (row == NULL) return NULL;
  uint16_t rule = *(const volatile uint16_t *)&row->rule;
  return rule < head->rule_count ? &rules[rule] : NULL;
}
