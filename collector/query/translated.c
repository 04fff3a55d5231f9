/* SPDX-License-Identifier: Apache-2.0 */
/* A translator takes about as long for one address as for a thousand. So all addresses of a module
   in the day's forest are requested together, including those that this query does not need, for
   later queries. */
#include "translated.h"

#include "common/clock.h"
#include "names/symbolizer.h"
#include "translators/translator_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_CHOSEN = TRANSLATOR_NONE - 1 };

void translated_fini(struct translated *translated) {
  free(translated->modules);
  free(translated->addresses);
  free(translated->ends);
}

void translated_turn(struct translated *translated) {
  translated->count = 0;
  translated->is_sorted = false;
}

/* Makes room for the modules of FOREST, all without a chosen translator. Returns false if memory is
   short. */
static bool begin(struct translated *translated, const struct store_forest *forest) {
  if (translated->count > 0) return true;
  if (forest->module_count > translated->room) {
    uint32_t *more = reallocarray(translated->modules, forest->module_count, sizeof *more);
    if (more == NULL) return false;
    translated->modules = more;
    translated->room = forest->module_count;
  }
  translated->count = forest->module_count;
  for (uint32_t i = 0; i < translated->count; i++) translated->modules[i] = NOT_CHOSEN;
  return true;
}

static uint32_t choose(struct symbolizer *symbolizer, const char *board,
                       const struct store_module *module) {
  struct debug_file file = {.quality = DEBUG_NONE};
  bool has_file = symbolizer_file(symbolizer, board, module->id, &file) == 0;
  const struct translator_module wanted = {.board = board,
                                           .path = module->path,
                                           .id = module->id,
                                           .quality = debug_quality_name(file.quality),
                                           .debug_path = has_file ? file.path : "",
                                           .sha256 = has_file ? file.sha256 : NULL};
  return translator_pool_choose(symbolizer_translators(symbolizer), &wanted);
}

static int by_address(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* Makes room for the addresses of FOREST. Returns false if memory is short. */
static bool make_room(struct translated *translated, const struct store_forest *forest) {
  if (forest->node_count > translated->address_room) {
    uint64_t *more = reallocarray(translated->addresses, forest->node_count, sizeof *more);
    if (more == NULL) return false;
    translated->addresses = more;
    translated->address_room = forest->node_count;
  }
  if (forest->module_count > translated->end_room) {
    uint32_t *more = reallocarray(translated->ends, forest->module_count, sizeof *more);
    if (more == NULL) return false;
    translated->ends = more;
    translated->end_room = forest->module_count;
  }
  return true;
}

/* Sorts the addresses of FOREST by module, with a counting sort: one pass, whatever the number of
   modules with translators. */
static bool sort(struct translated *translated, const struct store_forest *forest) {
  uint32_t before = 0;
  if (translated->is_sorted) return true;
  if (!make_room(translated, forest)) return false;
  uint32_t *ends = translated->ends;
  memset(ends, 0, forest->module_count * sizeof *ends);
  for (uint32_t i = 0; i < forest->node_count; i++) ends[forest->nodes[i].module]++;
  for (uint32_t i = 0; i < forest->module_count; i++) {
    uint32_t count = ends[i];
    ends[i] = before; /* its start, until its addresses are stored */
    before += count;
  }
  for (uint32_t i = 0; i < forest->node_count; i++)
    translated->addresses[ends[forest->nodes[i].module]++] = forest->nodes[i].address;
  translated->is_sorted = true;
  return true;
}

/* Sets RET to the addresses of module INDEX in FOREST, sorted, without duplicates. Returns their
   number. */
static uint32_t collect(struct translated *translated, const struct store_forest *forest,
                        uint32_t index, const uint64_t **ret) {
  if (!sort(translated, forest)) return 0;
  uint32_t start = index > 0 ? translated->ends[index - 1] : 0, kept = 0;
  uint32_t count = translated->ends[index] - start;
  uint64_t *addresses = translated->addresses + start;
  qsort(addresses, count, sizeof *addresses, by_address);
  for (uint32_t i = 0; i < count; i++)
    if (kept == 0 || addresses[i] != addresses[kept - 1]) addresses[kept++] = addresses[i];
  *ret = addresses;
  return kept;
}

static void ask(struct translated *translated, struct translator_pool *pool,
                const struct store_forest *forest, uint32_t index) {
  uint64_t start_ns = clock_monotonic_ns(), most_ns = TRANSLATED_WAIT_MS * NS_PER_MS;
  uint64_t left_ns = translated->waited_ns < most_ns ? most_ns - translated->waited_ns : 0;
  const uint64_t *addresses;
  uint32_t count = collect(translated, forest, index, &addresses);
  if (count == 0) return;
  translator_pool_ask(pool, translated->modules[index], addresses, count, start_ns + left_ns);
  translated->waited_ns += clock_monotonic_ns() - start_ns;
}

int translated_chain(struct translated *translated, struct symbolizer *symbolizer,
                     const char *board, const struct store_forest *forest,
                     const struct store_node *frame, struct symbol_frame *frames) {
  struct translator_pool *pool = symbolizer != NULL ? symbolizer_translators(symbolizer) : NULL;
  const struct store_module *module = &forest->modules[frame->module];
  if (pool == NULL || module->kind != MODULE_ELF || !begin(translated, forest)) return -ENOENT;
  uint32_t *number = &translated->modules[frame->module];
  if (*number == NOT_CHOSEN) {
    *number = choose(symbolizer, board, module);
    if (*number != TRANSLATOR_NONE) ask(translated, pool, forest, frame->module);
  }
  if (*number == TRANSLATOR_NONE) return -ENOENT;
  return translator_pool_find(pool, *number, frame->address, frames);
}

void translated_refuse(const struct translated *translated, struct symbolizer *symbolizer,
                       uint32_t module) {
  translator_pool_refuse(symbolizer_translators(symbolizer), translated->modules[module]);
}
