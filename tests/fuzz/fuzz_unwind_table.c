/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged unwind table, as on a board's disk: it is rejected, or every lookup stays inside and
   returns a rule inside the table. */
#include "unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MACHINE = 62, PAGES_LOOKED_AT = 64, STEPS = 16 };

static void look(const struct unwind_table *table, uint64_t address) {
  const struct unwind_rule *rule = unwind_table_find(table, address);
  if (rule == NULL) return;
  uint64_t at = (uint64_t)((const uint8_t *)rule - (const uint8_t *)table);
  if (at < table->rules_at || at + sizeof *rule > table->total_bytes) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  void *bytes = malloc(len > 0 ? len : 1); /* as aligned as a mapping is for all that counts */
  if (bytes == NULL) abort();
  memcpy(bytes, data, len);
  const struct unwind_table *table = bytes;
  if (unwind_table_check(table, len, MACHINE) == 0) {
    for (uint64_t page = 0; page < table->page_count && page < PAGES_LOOKED_AT; page++)
      for (unsigned i = 0; i < STEPS; i++)
        look(table, table->base + (page << UNWIND_PAGE_BITS) + i * (UNWIND_PAGE_BYTES / STEPS));
    look(table, table->base + ((uint64_t)table->page_count << UNWIND_PAGE_BITS) - 1);
    look(table, table->base - 1);
    look(table, UINT64_MAX);
  }
  free(bytes);
  return 0;
}
