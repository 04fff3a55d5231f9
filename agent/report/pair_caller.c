/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the collector's rules (linked/pair_rule) as far as local files permit.  A profile does
   not record its CPU, but its modules' files do.  Without any of these files, an address alone does
   not make a caller. */
#include "pair_caller.h"

#include "best_name.h"
#include "linked/pair_facts.h"
#include "namer.h"
#include "symbol/symbol_index.h"

static const struct lr_tables *tables_of(struct namer *namer, uint32_t module) {
  return namer != NULL ? namer_lr(namer, module) : NULL;
}

/* All modules of a profile have the same CPU type. */
static uint32_t machine_of(const struct profile *profile, struct namer *namer) {
  for (uint32_t i = 0; i < profile->module_count; i++) {
    const struct lr_tables *tables = tables_of(namer, i);
    if (tables != NULL) return lr_tables_machine(tables);
  }
  return 0;
}

struct asked {
  const struct profile *profile;
  struct namer *namer; /* or NULL */
  const struct profile_frame *ends[2];
};

/* Returns the outermost function; others may be inlined into it there. */
static bool find_function(void *context, enum pair_end end, struct pair_function *ret) {
  const struct asked *asked = context;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  int count = best_name_chain(asked->profile, asked->namer, asked->ends[end], frames, &quality);
  if (count <= 0) return false;
  const struct symbol_frame *last = &frames[count - 1];
  *ret = (struct pair_function){last->name, last->start, last->size};
  return true;
}

static enum lr_place place(void *context) {
  const struct asked *asked = context;
  const struct lr_tables *tables = tables_of(asked->namer, asked->ends[PAIR_PC]->module);
  return tables != NULL ? lr_tables_place(tables, asked->ends[PAIR_PC]->address) : LR_UNKNOWN;
}

static enum lr_call call(void *context, uint64_t function) {
  const struct asked *asked = context;
  const struct profile_frame *link = asked->ends[PAIR_LINK];
  const struct lr_tables *tables = tables_of(asked->namer, link->module);
  return tables != NULL ? lr_tables_call(tables, link->address, function) : LR_CALL_UNKNOWN;
}

bool pair_caller_is_told(const struct profile *profile, struct namer *namer,
                         const struct profile_node *node) {
  const struct profile_frame *pc = &profile->frames[node->frame];
  const struct profile_frame *link = &profile->frames[profile->nodes[node->parent].frame];
  struct asked asked = {profile, namer, {pc, link}};
  const struct pair_files files = {&asked, find_function, place, call};
  const struct pair_ends ends = {
      .link = link->address,
      .has_link = profile->modules[link->module].kind == MODULE_ELF,
      .is_same_module = pc->module == link->module,
      .machine = machine_of(profile, namer),
  };
  struct pair_facts facts = pair_facts_find(&ends, &files);
  return pair_rule_judge(&facts) != PAIR_UNRESOLVED;
}
