/* SPDX-License-Identifier: Apache-2.0 */
/* The words are read in the drain's copy; nothing is copied again.

   Programs of another word size (32-bit on a 64-bit kernel) have other registers, frames and
   tables: only their PC is reported. */
#include "walker.h"

#include "proto/limits.h"

#include <string.h>

_Static_assert((int)PERF_REGS_TRACKED == (int)UNWIND_TRACKED, "the same registers");
_Static_assert((int)PERF_REGS_GENERAL == (int)UNWIND_GENERAL, "the same registers");

enum { WORD = sizeof(uintptr_t) };

static const enum perf_word own_word = WORD == 8 ? PERF_WORD_64 : PERF_WORD_32;

void walker_init(struct walker *walker, struct modules *modules, struct table_store *store) {
  memset(walker, 0, sizeof *walker);
  process_codes_init(&walker->codes, modules, store);
}

void walker_fini(struct walker *walker) {
  process_codes_fini(&walker->codes);
}

static void give_up(struct unwind_path *path, const struct perf_copy *copy, enum unwind_end end) {
  path->pcs[0] = copy->pc;
  path->depth = 1;
  path->end = end;
}

/* A walk cannot follow an unaligned stack pointer. */
static bool can_walk(const struct perf_copy *copy) {
  return copy->word == own_word && copy->sp % WORD == 0;
}

static void walk(const struct process_code *code, const struct perf_copy *copy,
                 struct unwind_path *path) {
  struct unwind_registers at = {
      .pc = (uintptr_t)copy->pc, .sp = (uintptr_t)copy->sp, .lr = (uintptr_t)copy->lr};
  for (unsigned i = 0; i < UNWIND_TRACKED; i++) at.tracked[i] = (uintptr_t)copy->tracked[i];
  uint8_t general[PERF_REGS_GENERAL * sizeof(uint64_t)];
  for (unsigned i = 0; i < unwind_arch.general_count; i++) {
    uintptr_t value = (uintptr_t)copy->general[i];
    memcpy(general + i * unwind_arch.signal.general_step, &value, sizeof value);
  }
  at.general = general;
  struct unwind_memory stack = {
      .bytes = copy->stack.data, .low = at.sp, .high = at.sp + copy->stack.len};
  if (stack.high < stack.low) { /* wraps around the end of memory */
    give_up(path, copy, UNWIND_BAD);
    return;
  }
  unwind_walk(&at, &stack, &code->code, path);
}

/* A frame pointer may be any value, and a structure with a pointer to a function looks like a
   frame. A function's first byte with no code before it is no return address. */
static bool is_return_address(const struct unwind_code *code, uint64_t pc) {
  const struct unwind_region *region = unwind_region_find(code, (uintptr_t)pc - 1);
  return region != NULL && (unwind_rule_find(code, region, pc - 1) != NULL ||
                            unwind_rule_find(code, region, pc) == NULL);
}

static bool begins_stack(const struct unwind_code *code, uint64_t pc) {
  const struct unwind_region *region = unwind_region_find(code, (uintptr_t)pc - 1);
  const struct unwind_rule *rule = unwind_rule_find(code, region, pc - 1);
  return rule != NULL &&
         (rule->cfa == UNWIND_CFA_END || unwind_is_uncalled(code, region, (uintptr_t)pc));
}

/* The last of PATH's callers that CHAIN also has. Both are in order, and each may lack frames of
   the other. Returns the number of frames of PATH up to it, and of CHAIN in RET_CHAIN; 0: there is
   none. The first frame counts only if no table covers it. */
static unsigned last_common(const struct unwind_path *path, const struct walker_chain *chain,
                            unsigned *ret_chain) {
  unsigned common = 0, from = 1;
  if (path->depth == 1 && path->end == UNWIND_UNKNOWN) common = *ret_chain = 1;
  for (unsigned i = 1; i < path->depth; i++) {
    unsigned at = from;
    while (at < chain->depth && chain->pcs[at] != path->pcs[i]) at++;
    if (at >= chain->depth) continue;
    from = *ret_chain = at + 1;
    common = i + 1;
  }
  return common;
}

/* A stack that ends in a zero is complete. The exception: the program has switched to it from
   another stack, and CHAIN leads from its last frame to that one. */
static bool may_go_on(const struct unwind_code *code, const struct walker_chain *chain,
                      const struct unwind_path *path) {
  uint64_t last = path->pcs[path->depth - 1];
  if (chain->depth < 2 || chain->pcs[0] != path->pcs[0]) return false;
  if (path->end != UNWIND_COMPLETE) return true;
  for (unsigned i = 1; i + 1 < chain->depth; i++)
    if (chain->pcs[i] == last) return path->depth > 1 && !begins_stack(code, last);
  return false;
}

/* Callers that were found after the last common one are kept, unless the walk ended as bad: one of
   them may then be wrong. */
static void splice(const struct unwind_code *code, const struct walker_chain *chain,
                   struct unwind_path *path) {
  unsigned at = 0, common = last_common(path, chain, &at);
  bool is_in_step = path->end != UNWIND_COMPLETE || common == path->depth;
  if (common == 0 || !is_in_step || at == chain->depth || !is_return_address(code, chain->pcs[at]))
    return;
  if (path->end == UNWIND_BAD) path->depth = common;
  if (path->end == UNWIND_COMPLETE) path->end = UNWIND_OTHER;
  while (at < chain->depth && path->depth < path->room && is_return_address(code, chain->pcs[at]))
    path->pcs[path->depth++] = chain->pcs[at++];
  if (begins_stack(code, path->pcs[path->depth - 1])) path->end = UNWIND_COMPLETE;
}

void walker_continue(const struct unwind_code *code, const struct walker_chain *chain,
                     struct unwind_path *path) {
  if (may_go_on(code, chain, path)) splice(code, chain, path);
}

void walker_walk(struct walker *walker, struct process *process, const struct perf_copy *copy,
                 const struct walker_chain *chain, struct unwind_path *path) {
  const struct process_code *code = NULL;
  walker->foreign += copy->word != own_word;
  if (can_walk(copy)) code = process_codes_get(&walker->codes, process);
  if (code != NULL)
    walk(code, copy, path);
  else
    give_up(path, copy, copy->word == own_word ? UNWIND_BAD : UNWIND_UNKNOWN);
  if (code != NULL) walker_continue(&code->code, chain, path);
}

static bool is_in_waiting(const struct process_code *code, uint64_t pc) {
  const struct unwind_region *region = unwind_region_find(&code->code, (uintptr_t)pc);
  return region != NULL && code->is_waiting[region - code->code.regions];
}

bool walker_should_wait(struct walker *walker, struct process *process,
                        const struct perf_copy *copy) {
  uint64_t pcs[LIMIT_STACK_DEPTH];
  struct unwind_path path = {.pcs = pcs, .room = LIMIT_STACK_DEPTH};
  if (!can_walk(copy)) return false;
  const struct process_code *code = process_codes_get(&walker->codes, process);
  if (code == NULL || !code->has_waiting) return false;
  walk(code, copy, &path);
  for (unsigned i = 0; i < path.depth; i++)
    if (is_in_waiting(code, pcs[i] - (i > 0))) return true;
  return false;
}
