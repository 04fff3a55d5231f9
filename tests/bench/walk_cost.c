/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a walk by tables, with the handler's code. The stack has a given number of frames,
   each of another function, over the tables of 6 modules of 30 000 rows among 64 regions (a program
   with a few large libraries). Functions, rules and frame sizes are random, but the same in every
   run.

     walk_cost                          20 frames: ns a walk, warm and after the caches were swept
     walk_cost callgrind COUNT FRAMES   COUNT walks, for tests/bench/unwind_walk.sh to count */
#include "unwind/unwind_walk.h"

#include "ring/ring_cost.h"
#include "ring/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 6, REGIONS = 64, ROWS = 30000, PAGES = 640, RULES = 200, FRAMES_MAX = 128 };
enum { STACK_WORDS = 1 << 14, MODULE_BYTES = PAGES << UNWIND_PAGE_BITS, WORD = sizeof(uintptr_t) };
enum { SWEEP_BYTES = 64 << 20, WARM_WALKS = 20001, COLD_WALKS = 301 };

static struct unwind_region regions[REGIONS];
static uintptr_t stack_words[STACK_WORDS];
static uint64_t pcs[FRAMES_MAX];
static uint8_t sweep[SWEEP_BYTES];
static double costs[WARM_WALKS];
static struct unwind_registers at;
static struct unwind_code code = {.regions = regions, .count = REGIONS};
static struct unwind_memory stack;

static size_t table_content_bytes(void) {
  return sizeof(struct unwind_table) + (PAGES + 1) * sizeof(uint32_t) +
         ROWS * sizeof(struct unwind_row) + RULES * sizeof(struct unwind_rule);
}

static size_t table_bytes(void) {
  return (table_content_bytes() + 7) / 8 * 8;
}

static uint32_t row_of_page(unsigned page) {
  return (uint32_t)((uint64_t)ROWS * page / PAGES);
}

/* Frames of 2 to 41 words, the caller's frame pointer below the return address in each. */
static void fill_rules(struct unwind_rule *rules) {
  for (int i = 0; i < RULES; i++)
    rules[i] = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
                                    .offset = WORD * (2 + i % 40),
                                    .return_address = -WORD,
                                    .saved = {-2 * WORD, UNWIND_SAME}};
  rules[0].cfa = UNWIND_CFA_END;
}

static void fill_table(uint8_t *bytes) {
  struct unwind_table *table = (struct unwind_table *)(void *)bytes;
  uint32_t *pages = (uint32_t *)(void *)(table + 1);
  struct unwind_row *rows = (struct unwind_row *)(void *)(pages + PAGES + 1);
  *table = (struct unwind_table){.magic = UNWIND_TABLE_MAGIC,
                                 .version = UNWIND_TABLE_VERSION,
                                 .machine = unwind_arch.machine,
                                 .page_count = PAGES,
                                 .row_count = ROWS,
                                 .rule_count = RULES,
                                 .total_bytes = (uint32_t)table_content_bytes()};
  table->rules_at = (uint32_t)((uint8_t *)(rows + ROWS) - bytes);
  for (unsigned page = 0; page <= PAGES; page++) pages[page] = row_of_page(page);
  for (unsigned page = 0; page < PAGES; page++) {
    uint32_t first = row_of_page(page), count = row_of_page(page + 1) - first;
    for (uint32_t i = 0; i < count; i++)
      rows[first + i] = (struct unwind_row){(uint16_t)(i * UNWIND_PAGE_BYTES / count),
                                            (uint16_t)(1 + rand() % (RULES - 1))};
  }
  fill_rules((struct unwind_rule *)(void *)(bytes + table->rules_at));
}

static int fill_modules(void) {
  uint8_t *tables = calloc(MODULES, table_bytes());
  if (tables == NULL) return -1;
  for (unsigned i = 0; i < MODULES; i++) fill_table(tables + i * table_bytes());
  code.tables = (uintptr_t)tables;
  code.tables_bytes = MODULES * table_bytes();
  for (unsigned i = 0; i < REGIONS; i++) {
    uint64_t start = UINT64_C(0x10000000) + i * UINT64_C(2) * MODULE_BYTES;
    bool has_table = i % (REGIONS / MODULES) == 0 && i / (REGIONS / MODULES) < MODULES;
    regions[i] = (struct unwind_region){.start = start,
                                        .end = start + MODULE_BYTES,
                                        .table = has_table ? i / (REGIONS / MODULES) * table_bytes()
                                                           : UNWIND_NO_TABLE};
  }
  return 0;
}

/* A random place in one of the modules, and its rule. */
static uintptr_t random_place(const struct unwind_rule **ret_rule) {
  const struct unwind_region *region = &regions[rand() % MODULES * (REGIONS / MODULES)];
  uint64_t offset = 1 + (uint64_t)rand() % (MODULE_BYTES - 1);
  const struct unwind_table *table =
      (const struct unwind_table *)(code.tables + (uintptr_t)region->table);
  *ret_rule = unwind_table_find(table, offset - 1);
  return (uintptr_t)(region->start + offset);
}

/* Each return address belongs to a random caller; the last is zero. */
static void fill_stack(unsigned frames) {
  const struct unwind_rule *rule;
  uintptr_t low = (uintptr_t)stack_words, sp = low;
  at = (struct unwind_registers){.pc = random_place(&rule) - 1, .sp = sp};
  for (unsigned i = 1; i < frames; i++) {
    sp += (uintptr_t)rule->offset;
    stack_words[(sp - low) / WORD - 1] = random_place(&rule);
  }
  stack = (struct unwind_memory){
      .bytes = (const uint8_t *)stack_words, .low = low, .high = low + sizeof stack_words};
}

static void walk(unsigned frames) {
  struct unwind_path path = {.pcs = pcs, .room = FRAMES_MAX};
  unwind_walk(&at, &stack, &code, &path);
  if (path.depth != frames || path.end != UNWIND_COMPLETE) {
    fprintf(stderr, "%u frames of %u, end %u\n", path.depth, frames, path.end);
    exit(1);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, int count, bool is_cold, double ns_per_tick) {
  for (int i = 0; i < count; i++) {
    for (size_t byte = 0; is_cold && byte < SWEEP_BYTES; byte += 64) sweep[byte]++;
    uint64_t start = ticks_now();
    walk(20);
    costs[i] = (double)(ticks_now() - start) * ns_per_tick;
  }
  qsort(costs, (size_t)count, sizeof *costs, compare);
  printf("20 frames, %s: p50 %.0f ns, p99 %.0f ns\n", name, costs[count / 2],
         costs[count * 99 / 100]);
}

int main(int argc, char **argv) {
  struct ring_cost_clock clock;
  ring_cost_clock_start(&clock);
  srand(1);
  if (fill_modules() != 0) return 1;
  if (argc == 4 && strcmp(argv[1], "callgrind") == 0) {
    unsigned frames = (unsigned)strtoul(argv[3], NULL, 10);
    if (frames < 1 || frames > FRAMES_MAX) return 2;
    fill_stack(frames);
    for (unsigned long i = strtoul(argv[2], NULL, 10); i > 0; i--) walk(frames);
    return 0;
  }
  fill_stack(20);
  memset(sweep, 1, sizeof sweep);
  for (int i = 0; i < WARM_WALKS; i++) walk(20);
  double ns_per_tick = ring_cost_ns_per_tick(&clock);
  measure("warm", WARM_WALKS, false, ns_per_tick);
  measure("cold", COLD_WALKS, true, ns_per_tick);
  return 0;
}
