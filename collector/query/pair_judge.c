/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a pair: of the code that the files of its modules have, and of its functions. */
#include "pair_judge.h"

#include "linked/pair_code.h"
#include "names/link_sources.h"
#include "names/symbolizer.h"

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
  return find_symbol(view, link, &other) && pair_code_is_one_function(function->name, other.name);
}

struct pair_verdict pair_judge(const struct pair_view *view, uint32_t node) {
  const struct store_node *pc = &view->forest->nodes[node];
  if (pc->parent == BATCH_NONE) return (struct pair_verdict){.rung = PAIR_UNRESOLVED};
  const struct store_node *link = &view->forest->nodes[pc->parent];
  const struct name_sources *here = sources_of(view, pc), *there = sources_of(view, link);
  struct symbol function = {.start = 0};
  uint32_t machine = here != NULL ? link_sources_machine(here) : 0;
  struct pair_facts facts = {.cpu = pair_code_cpu(machine, view->arch)};
  facts.has_link = view->forest->modules[link->module].kind == MODULE_ELF;
  facts.has_bounds = find_symbol(view, pc, &function);
  if (facts.has_bounds) facts.is_inside = is_inside(view, pc, link, &function);
  if (here != NULL) facts.place = pair_code_place(link_sources_place(here, pc->address));
  if (there != NULL)
    facts.call = pair_code_call(link_sources_call(there, link->address, function.start),
                                pc->module == link->module);
  return (struct pair_verdict){pair_rule_judge(&facts), pair_rule_is_outside(&facts),
                               pair_rule_is_refuted(&facts), pair_rule_is_unseen(&facts)};
}
