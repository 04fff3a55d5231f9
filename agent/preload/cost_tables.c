/* SPDX-License-Identifier: Apache-2.0 */
/* A walk reads as much as in a program with several libraries: a map of REGIONS regions, one in the
   middle of which is walked, and PAGES pages of ROWS rows, as compiled code has. */
#include "cost_tables.h"
#include "cold.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

enum { REGIONS = 16, PAGES = 32, ROWS = 64, RULES = 32, CODE = 0x10000 };
enum { PAGE_BYTES = UNWIND_PAGE_BYTES, ROW_BYTES = PAGE_BYTES / ROWS };

struct tables {
  struct unwind_table head;
  uint32_t first_rows[PAGES + 1];
  struct unwind_row rows[PAGES * ROWS];
  uint32_t padding;
  struct unwind_rule rules[RULES];
};

struct all {
  struct unwind_map map;
  _Alignas(8) struct tables tables;
};

static void fill_map(struct unwind_map *map) {
  map->counts[UNWIND_MAP_ALL] = REGIONS;
  for (unsigned i = 0; i < REGIONS; i++)
    map->regions[UNWIND_MAP_ALL][i] =
        (struct unwind_region){.start = CODE + (uint64_t)i * PAGES * PAGE_BYTES,
                               .end = CODE + (uint64_t)(i + 1) * PAGES * PAGE_BYTES,
                               .table = i == REGIONS / 2 ? 0 : UNWIND_NO_TABLE};
}

static void fill_tables(struct tables *tables) {
  tables->head = (struct unwind_table){.magic = UNWIND_TABLE_MAGIC,
                                       .version = UNWIND_TABLE_VERSION,
                                       .machine = unwind_arch.machine,
                                       .page_count = PAGES,
                                       .row_count = PAGES * ROWS,
                                       .rule_count = RULES,
                                       .rules_at = offsetof(struct tables, rules),
                                       .total_bytes = sizeof *tables};
  for (uint32_t page = 0; page <= PAGES; page++) tables->first_rows[page] = page * ROWS;
  for (uint32_t i = 0; i < PAGES * ROWS; i++)
    tables->rows[i] =
        (struct unwind_row){(uint16_t)(i % ROWS * ROW_BYTES), (uint16_t)(i * 7 % RULES)};
  for (unsigned i = 0; i < RULES; i++)
    tables->rules[i] =
        (struct unwind_rule){.cfa = UNWIND_CFA_SP,
                             .offset = COST_TABLES_FRAME_BYTES,
                             .return_address = COST_TABLES_RETURN - COST_TABLES_FRAME_BYTES,
                             .saved = {-COST_TABLES_FRAME_BYTES, UNWIND_SAME}};
}

int cost_tables_make(struct cost_tables *ret) {
  struct all *all =
      mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return -ENOMEM;
  fill_map(&all->map);
  fill_tables(&all->tables);
  *ret = (struct cost_tables){.shared = {.map = &all->map,
                                         .tables = (uintptr_t)&all->tables,
                                         .tables_bytes = sizeof all->tables},
                              .bytes = sizeof *all};
  return 0;
}

void cost_tables_free(struct cost_tables *tables) {
  munmap((void *)(uintptr_t)tables->shared.map, tables->bytes);
}

uintptr_t cost_tables_code(unsigned n) {
  return CODE + (REGIONS / 2 * PAGES + n % PAGES) * PAGE_BYTES + n * 100 % PAGE_BYTES + 1;
}

void cost_tables_chill(const struct cost_tables *tables) {
  const struct unwind_map *map = tables->shared.map;
  cold_make(map, offsetof(struct unwind_map, regions) + REGIONS * sizeof map->regions[0][0]);
  cold_make((const void *)tables->shared.tables, tables->shared.tables_bytes);
}
