/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's ladder (linked/pair_rule), as far as the files on this machine tell.  A profile
   does not say which CPU it is of: its modules' files do, and where there is none of them nothing
   is taken for a caller because of where it points. */
#include "pair_caller.h"

#include "best_name.h"
#include "linked/pair_code.h"
#include "namer.h"
#include "symbol/symbol_index.h"

static const struct lr_tables *tables_of(struct namer *namer, uint32_t module) {
  return namer != NULL ? namer_lr(namer, module) : NULL;
}

/* All modules of a profile are of one CPU. */
static uint32_t machine_of(const struct profile *profile, struct namer *namer) {
  for (uint32_t i = 0; i < profile->module_count; i++) {
    const struct lr_tables *tables = tables_of(namer, i);
    if (tables != NULL) return lr_tables_machine(tables);
  }
  return 0;
}

/* Finds the function around FRAME, into which others may be inlined there. */
static bool find_function(const struct profile *profile, struct namer *namer,
                          const struct profile_frame *frame, struct symbol_frame *ret) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int count = best_name_chain(profile, namer, frame, frames);
  if (count > 0) *ret = frames[count - 1];
  return count > 0;
}

static bool is_inside(const struct profile *profile, struct namer *namer,
                      const struct profile_frame *link, const struct symbol_frame *function) {
  struct symbol_frame other;
  if (link->address >= function->start && link->address - function->start < function->size)
    return true;
  return find_function(profile, namer, link, &other) &&
         pair_code_is_one_function(function->name, other.name);
}

bool pair_caller_is_told(const struct profile *profile, struct namer *namer,
                         const struct profile_node *node) {
  const struct profile_frame *pc = &profile->frames[node->frame];
  const struct profile_frame *link = &profile->frames[profile->nodes[node->parent].frame];
  const struct lr_tables *here = tables_of(namer, pc->module);
  const struct lr_tables *there = tables_of(namer, link->module);
  bool is_same_module = pc->module == link->module;
  struct symbol_frame function = {.start = 0};
  struct pair_facts facts = {
      .cpu = pair_code_cpu(machine_of(profile, namer), NULL),
      .has_link = profile->modules[link->module].kind == MODULE_ELF,
      .has_bounds = find_function(profile, namer, pc, &function),
  };
  if (facts.has_bounds && is_same_module)
    facts.is_inside = is_inside(profile, namer, link, &function);
  if (here != NULL) facts.place = pair_code_place(lr_tables_place(here, pc->address));
  if (there != NULL)
    facts.call =
        pair_code_call(lr_tables_call(there, link->address, function.start), is_same_module);
  return pair_rule_judge(&facts) != PAIR_UNRESOLVED;
}
