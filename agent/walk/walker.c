/* SPDX-License-Identifier: Apache-2.0 */
/* The words are walked where the drain has copied them to; nothing is copied again.

   Programs of another word size (32-bit ones on a 64-bit kernel) have other registers, other frames
   and other tables: of them the PC is told and nothing else. */
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

/* A stack pointer between two words is none that a walk could follow. */
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
  if (stack.high < stack.low) { /* around the end of memory */
    give_up(path, copy, UNWIND_BAD);
    return;
  }
  unwind_walk(&at, &stack, &code->code, path);
}

void walker_walk(struct walker *walker, struct process *process, const struct perf_copy *copy,
                 struct unwind_path *path) {
  const struct process_code *code = NULL;
  walker->foreign += copy->word != own_word;
  if (can_walk(copy)) code = process_codes_get(&walker->codes, process);
  if (code != NULL)
    walk(code, copy, path);
  else
    give_up(path, copy, copy->word == own_word ? UNWIND_BAD : UNWIND_UNKNOWN);
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
