/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's ladder (linked/pair_rule), as far as the files on this machine tell: a link
   register that points out of the function is its caller; where the code was looked at, what it
   says goes before. */
#include "pair_caller.h"

#include "linked/pair_rule.h"
#include "namer.h"
#include "symbol/lr_tables.h"
#include "symbol/symbol_index.h"

#include <elf.h>

static enum pair_cpu cpu_of(const struct lr_tables *tables) {
  switch (lr_tables_machine(tables)) {
  case EM_X86_64:
    return PAIR_CPU_STACK;
  case EM_ARM:
    return PAIR_CPU_POPS;
  default:
    return PAIR_CPU_JUMPS;
  }
}

static enum pair_place place_of(const struct lr_tables *tables, uint64_t address) {
  static const enum pair_place places[LR_PLACES] = {[LR_UNKNOWN] = PAIR_PLACE_UNKNOWN,
                                                    [LR_HELD_BY_ROW] = PAIR_PLACE_ROW,
                                                    [LR_HELD_BY_SCAN] = PAIR_PLACE_SCAN,
                                                    [LR_LOST] = PAIR_PLACE_LOST};
  return places[lr_tables_place(tables, address)];
}

static enum pair_call call_of(const struct lr_tables *tables, uint64_t address, uint64_t function,
                              bool is_same_module) {
  static const enum pair_call calls[] = {[LR_CALL_UNKNOWN] = PAIR_CALL_UNKNOWN,
                                         [LR_CALL_NONE] = PAIR_CALL_NONE,
                                         [LR_CALL_ANYWHERE] = PAIR_CALL_ANYWHERE,
                                         [LR_CALL_HERE] = PAIR_CALL_HERE,
                                         [LR_CALL_ELSEWHERE] = PAIR_CALL_ELSEWHERE};
  enum pair_call call = calls[lr_tables_call(tables, address, function)];
  return call == PAIR_CALL_HERE && !is_same_module ? PAIR_CALL_ELSEWHERE : call;
}

bool pair_caller_is_told(const struct profile *profile, const struct namer *namer,
                         const struct profile_node *node) {
  const struct profile_frame *pc = &profile->frames[node->frame];
  const struct profile_frame *link = &profile->frames[profile->nodes[node->parent].frame];
  const struct lr_tables *here = namer != NULL ? namer_lr(namer, pc->module) : NULL;
  const struct lr_tables *there = namer != NULL ? namer_lr(namer, link->module) : NULL;
  struct symbol_match function = {.start = 0};
  struct pair_facts facts = {
      .has_link = true, .has_bounds = true, .is_inside = pc->function == link->function};
  if (here != NULL) {
    facts.cpu = cpu_of(here);
    facts.place = place_of(here, pc->address);
    if (namer_find(namer, pc->module, pc->address, &function) != 0) facts.has_bounds = false;
  }
  if (there != NULL)
    facts.call = call_of(there, link->address, function.start, pc->module == link->module);
  return pair_rule_judge(&facts) != PAIR_UNRESOLVED;
}
