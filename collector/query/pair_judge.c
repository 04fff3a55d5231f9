/* SPDX-License-Identifier: Apache-2.0 */
/* Provides the facts for pair_rule from the collector's files of both ends of a pair. */
#include "pair_judge.h"

#include "linked/pair_facts.h"
#include "names/link_sources.h"
#include "names/symbolizer.h"

struct asked {
  const struct pair_view *view;
  const struct store_node *ends[2];
  const struct name_sources *files[2]; /* or NULL */
};

static const struct store_module *module_of(const struct asked *asked, enum pair_end end) {
  return &asked->view->forest->modules[asked->ends[end]->module];
}

static const struct name_sources *files_of(const struct asked *asked, enum pair_end end) {
  const struct pair_view *view = asked->view;
  const struct store_module *module = module_of(asked, end);
  if (view->symbolizer == NULL || module->kind != MODULE_ELF) return NULL;
  return symbolizer_sources(view->symbolizer, view->board, module->id);
}

static bool find_function(void *context, enum pair_end end, struct pair_function *ret) {
  const struct asked *asked = context;
  const struct store_module *module = module_of(asked, end);
  struct symbol symbol;
  if (asked->view->symbolizer == NULL || module->kind != MODULE_ELF) return false;
  if (symbolizer_find(asked->view->symbolizer, asked->view->board, module->id,
                      asked->ends[end]->address, &symbol) != 0)
    return false;
  *ret = (struct pair_function){symbol.name, symbol.start, symbol.size};
  return true;
}

static enum lr_place place(void *context) {
  const struct asked *asked = context;
  if (asked->files[PAIR_PC] == NULL) return LR_UNKNOWN;
  return link_sources_place(asked->files[PAIR_PC], asked->ends[PAIR_PC]->address);
}

static enum lr_call call(void *context, uint64_t function) {
  const struct asked *asked = context;
  if (asked->files[PAIR_LINK] == NULL) return LR_CALL_UNKNOWN;
  return link_sources_call(asked->files[PAIR_LINK], asked->ends[PAIR_LINK]->address, function);
}

struct pair_verdict pair_judge(const struct pair_view *view, uint32_t node) {
  const struct store_node *pc = &view->forest->nodes[node];
  if (pc->parent == BATCH_NONE) return (struct pair_verdict){.rung = PAIR_UNRESOLVED};
  struct asked asked = {.view = view, .ends = {pc, &view->forest->nodes[pc->parent]}};
  for (unsigned end = 0; end < 2; end++) asked.files[end] = files_of(&asked, end);
  const struct name_sources *here = asked.files[PAIR_PC];
  const struct pair_ends ends = {
      .link = asked.ends[PAIR_LINK]->address,
      .has_link = module_of(&asked, PAIR_LINK)->kind == MODULE_ELF,
      .is_same_module = pc->module == asked.ends[PAIR_LINK]->module,
      .machine = here != NULL ? link_sources_machine(here) : 0,
      .arch = view->arch,
  };
  const struct pair_files files = {&asked, find_function, place, call};
  struct pair_facts facts = pair_facts_find(&ends, &files);
  return (struct pair_verdict){pair_rule_judge(&facts), pair_rule_is_outside(&facts),
                               pair_rule_is_refuted(&facts), pair_rule_is_unseen(&facts),
                               pair_rule_is_tangled(&facts)};
}
