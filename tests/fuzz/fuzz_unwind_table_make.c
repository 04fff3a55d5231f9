/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted ELF file, as module and as its own debug file, becomes a table or is rejected. A
   table is complete, its rows ascend, and every lookup stays inside. */
#include "tables/table_make.h"
#include "tables/table_rows.h"
#include "tests/unit/tables/machines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(const struct unwind_table *table, uint64_t address) {
  const struct unwind_rule *rule = unwind_table_find(table, address);
  if (rule != NULL && rule->cfa >= UNWIND_CFA_COUNT) abort();
}

static void check_rows(const struct unwind_table *table) {
  const uint32_t *pages = (const void *)(table + 1);
  const struct unwind_row *rows = (const void *)(pages + table->page_count + 1);
  if (pages[0] != 0 || pages[table->page_count] != table->row_count) abort();
  for (uint64_t page = 0; page < table->page_count; page++) {
    uint64_t address = table->base + (page << UNWIND_PAGE_BITS);
    if (pages[page] > pages[page + 1]) abort();
    for (uint32_t i = pages[page]; i < pages[page + 1]; i++) {
      if (i > pages[page] && rows[i].low <= rows[i - 1].low) abort();
      if (rows[i].rule >= table->rule_count) abort();
      look(table, address + rows[i].low);
    }
    look(table, address);
  }
  for (uint64_t low = table->base; low < UINT64_MAX / 4; low = low * 2 + UNWIND_PAGE_BYTES) {
    uint64_t place;
    if (table_rows_place(table, low, low + UNWIND_PAGE_BYTES, &place)) look(table, place);
  }
  look(table, table->base - 1);
  look(table, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct table_input input = {.file = {data, len}, .debug = {data, len}};
  struct buf bytes = {0};
  struct table_report report;
  uint16_t machine = EM_X86_64;
  if (len > 20) memcpy(&machine, data + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  input.arch = machine_of(machine) != NULL ? machine_of(machine) : &machines[0];
  if (table_make(&input, &bytes, &report) == 0) {
    const struct unwind_table *table = (const void *)bytes.data;
    if (unwind_table_check(table, bytes.len, input.arch->machine) != 0) abort();
    check_rows(table);
  }
  buf_fini(&bytes);
  return 0;
}
