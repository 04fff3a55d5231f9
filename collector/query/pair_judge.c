/* SPDX-License-Identifier: Apache-2.0 */
/* Two parts of one function, of which compilers put the cold one elsewhere, are one here: what
   points from the one into the other points into the function. */
#include "pair_judge.h"

#include "names/link_sources.h"
#include "names/symbolizer.h"

#include <elf.h>

static const char cold[] = ".cold";

/* Up to what a compiler has appended for the part that it moved away. */
static size_t base_len(const char *name) {
  const char *end = strstr(name, cold);
  return end != NULL ? (size_t)(end - name) : strlen(name);
}

static bool is_one_function(const char *a, const char *b) {
  size_t len = base_len(a);
  return len > 0 && len == base_len(b) && memcmp(a, b, len) == 0;
}

/* By the kernel's word for the board, where no file of the program tells. */
static enum pair_cpu cpu_by_arch(const char *arch) {
  if (arch == NULL) return PAIR_CPU_JUMPS;
  if (strcmp(arch, "x86_64") == 0) return PAIR_CPU_STACK;
  bool is_arm = strncmp(arch, "arm", 3) == 0 && strcmp(arch, "arm64") != 0;
  return is_arm ? PAIR_CPU_POPS : PAIR_CPU_JUMPS;
}

static enum pair_cpu cpu_of(uint32_t machine, const char *arch) {
  switch (machine) {
  case EM_NONE:
    return cpu_by_arch(arch);
  case EM_X86_64:
    return PAIR_CPU_STACK;
  case EM_ARM:
    return PAIR_CPU_POPS;
  default:
    return PAIR_CPU_JUMPS;
  }
}

static const struct name_sources *sources_of(const struct pair_view *view,
                                             const struct store_node *node) {
  const struct store_module *module = &view->forest->modules[node->module];
  if (view->symbolizer == NULL || module->kind != MODULE_ELF) return NULL;
  return symbolizer_sources(view->symbolizer, view->board, module->id);
}

static bool find_symbol(const struct pair_view *view, const struct store_node *node,
                        struct symbol *ret) {
  const struct store_module *module = &view->forest->modules[node->module];
  return view->symbolizer != NULL && module->kind == MODULE_ELF &&
         symbolizer_find(view->symbolizer, view->board, module->id, node->address, ret) == 0;
}

/* Where the link points, seen from FUNCTION, that of the PC. */
static bool is_inside(const struct pair_view *view, const struct store_node *pc,
                      const struct store_node *link, const struct symbol *function) {
  struct symbol other;
  if (pc->module != link->module) return false;
  if (link->address >= function->start && link->address - function->start < function->size)
    return true;
  return find_symbol(view, link, &other) && is_one_function(function->name, other.name);
}

static enum pair_place place_of(const struct name_sources *sources, uint64_t address) {
  static const enum pair_place places[LR_PLACES] = {[LR_UNKNOWN] = PAIR_PLACE_UNKNOWN,
                                                    [LR_HELD_BY_ROW] = PAIR_PLACE_ROW,
                                                    [LR_HELD_BY_SCAN] = PAIR_PLACE_SCAN,
                                                    [LR_LOST] = PAIR_PLACE_LOST};
  return places[link_sources_place(sources, address)];
}

/* Another module's function can be called through a register or the linkage table only. */
static enum pair_call call_of(const struct name_sources *sources, uint64_t address,
                              uint64_t function, bool is_same_module) {
  switch (link_sources_call(sources, address, function)) {
  case LR_CALL_UNKNOWN:
    return PAIR_CALL_UNKNOWN;
  case LR_CALL_NONE:
    return PAIR_CALL_NONE;
  case LR_CALL_ANYWHERE:
    return PAIR_CALL_ANYWHERE;
  case LR_CALL_HERE:
    return is_same_module ? PAIR_CALL_HERE : PAIR_CALL_ELSEWHERE;
  default:
    return PAIR_CALL_ELSEWHERE;
  }
}

struct pair_verdict pair_judge(const struct pair_view *view, uint32_t node) {
  const struct store_node *pc = &view->forest->nodes[node];
  if (pc->parent == BATCH_NONE) return (struct pair_verdict){.rung = PAIR_UNRESOLVED};
  const struct store_node *link = &view->forest->nodes[pc->parent];
  const struct name_sources *here = sources_of(view, pc), *there = sources_of(view, link);
  struct symbol function = {.start = 0};
  struct pair_facts facts = {.cpu =
                                 cpu_of(here != NULL ? link_sources_machine(here) : 0, view->arch)};
  facts.has_link = view->forest->modules[link->module].kind == MODULE_ELF;
  facts.has_bounds = find_symbol(view, pc, &function);
  if (facts.has_bounds) facts.is_inside = is_inside(view, pc, link, &function);
  if (here != NULL) facts.place = place_of(here, pc->address);
  if (there != NULL)
    facts.call = call_of(there, link->address, function.start, pc->module == link->module);
  return (struct pair_verdict){pair_rule_judge(&facts), pair_rule_is_outside(&facts),
                               pair_rule_is_refuted(&facts)};
}
