/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the drawing in unwind_table.h, without the code that makes tables. So the reader is
   tested against the documented format, not against a writer. */
#include "table_fixture.h"

#include <stdlib.h>
#include <string.h>

static uint32_t rows_before(const struct table_fixture *from, uint64_t address) {
  uint32_t count = 0;
  while (count < from->row_count && from->rows[count].address < address) count++;
  return count;
}

struct unwind_table *table_fixture_make(const struct table_fixture *from) {
  size_t rows_at = sizeof(struct unwind_table) + (from->page_count + 1) * sizeof(uint32_t);
  size_t rules_at = rows_at + from->row_count * sizeof(struct unwind_row);
  size_t bytes = rules_at + from->rule_count * sizeof(struct unwind_rule);
  uint8_t *made = calloc(1, bytes);
  if (made == NULL) abort();
  struct unwind_table header = {.magic = UNWIND_TABLE_MAGIC,
                                .version = UNWIND_TABLE_VERSION,
                                .machine = TABLE_MACHINE,
                                .base = from->base,
                                .page_count = from->page_count,
                                .row_count = from->row_count,
                                .rule_count = from->rule_count,
                                .rules_at = (uint32_t)rules_at,
                                .total_bytes = (uint32_t)bytes};
  memcpy(made, &header, sizeof header);
  for (uint32_t page = 0; page <= from->page_count; page++) {
    uint32_t first = rows_before(from, from->base + ((uint64_t)page << UNWIND_PAGE_BITS));
    memcpy(made + sizeof header + page * sizeof first, &first, sizeof first);
  }
  for (uint32_t i = 0; i < from->row_count; i++) {
    struct unwind_row row = {(uint16_t)(from->rows[i].address % UNWIND_PAGE_BYTES),
                             from->rows[i].rule};
    memcpy(made + rows_at + i * sizeof row, &row, sizeof row);
  }
  memcpy(made + rules_at, from->rules, from->rule_count * sizeof *from->rules);
  return (struct unwind_table *)(void *)made;
}
