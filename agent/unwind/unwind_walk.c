/* SPDX-License-Identifier: Apache-2.0 */
/* A step goes from the registers of one frame to those of its caller. The method is chosen at each
   frame by its module. So one stack may be walked by tables in a library, by frame pointers in JIT
   code, and by the link register at its leaf.

   A caller is looked up one byte before its return address. Otherwise a call that is the last
   instruction of its function would be taken for the next function. A frame that a signal
   interrupted is not a caller. There the address is the exact instruction, and the link register
   may still hold a value that no stack has, as in the first frame.

   No call ends in the gap between two functions. So a return address that is a function's first
   byte, after a gap, was written by hand: that function is the last frame.

   General registers other than the tracked ones are known in an interrupted frame. In its callers a
   general register is known if the table states that no callee writes it.

   A rule derived from instructions may be wrong. If the walk fails after one, it continues from
   there by the frame pointer, at most GUESSES_MAX times.

   A pair at the bottom of a frame gives the place of the caller's pair, but not its stack pointer
   (AArch64). The caller's own rule and its frame pointer give that, or the walk ends.

   Progress: a caller's stack pointer lies above its callee's. It may be equal only if the callee
   was interrupted with its return address in a register. So no stack contents make a cycle, and a
   step that would not rise ends the walk as bad. Only the return from a signal handler may lead
   anywhere, because handlers have their own stacks. The walk continues if that stack may be read,
   or ends with its own reason.

   On a stack that is not the thread's own (unwind_stacks.h) only unwind information is trusted
   beyond the stack pointer's page, while the map is unchanged. After a frame pointer, a guessed
   rule or a link register the walk stays within that page. It also stays there after a return
   address that can be a function's first byte. If it was written by hand, the byte before belongs
   to a function without a frame here.

   A return address outside all known code is no caller: the walk ends before it. If it is the first
   byte of a function, with no function before it, it was written by hand: the first function of a
   coroutine "returns" to it. The walk is complete with that frame, which has an exact address. */
#include "unwind_walk.h"
#include "unwind_stacks.h"

#include <stddef.h>

enum {
  WORD = sizeof(uintptr_t),
  REACH_MAX = 1 << 30,                /* bytes; no frame reaches further above the stack pointer */
  GUESSES_MAX = 8,                    /* discarded in one walk: each repeats the steps after it */
  SIGNAL_FRAME_BYTES_MAX = 128 << 10, /* more than the registers of any CPU, SVE and SME included */
};

/* A word in a copy, which need not be aligned as the stack was. */
struct word {
  uintptr_t value;
} __attribute__((packed, may_alias));

/* The last frame that was left by a guessed rule: the state that a frame-pointer step needs. */
struct guess {
  uintptr_t sp, tracked[UNWIND_TRACKED];
  unsigned depth; /* 0: none */
};

/* The state of one walk. */
struct walk {
  struct unwind_registers at;
  const struct unwind_memory *stack;
  struct unwind_memory next; /* the stack to which a signal's frame has led */
  const struct unwind_code *code;
  const struct unwind_region *region; /* contains at.pc; NULL: in no known code */
  bool is_exact;  /* at.pc is the interrupted instruction, and lr may be valid */
  bool is_chain;  /* the frame pointer came from a pair: zero ends the chain of pairs */
  bool is_sp_low; /* at.sp is not the stack pointer, but an address below it */
  bool is_guess;  /* frames from here on may be wrong */
  struct unwind_path *path;
  struct guess guess;
  unsigned guesses; /* discarded guesses */
};

enum step { STEP_ON, STEP_OVER, STEP_CUT, STEP_LOST, STEP_BAD, STEP_OTHER };

static inline uintptr_t plus(uintptr_t address, int32_t offset) {
  return address + (uintptr_t)offset;
}

/* Reads a word beyond the page of the stack pointer, which only a reliable rule may do. A rule
   found while the map changed is unreliable. So is the rule of a frame that would begin with a
   page. A stack may end there if its first function was called right after a change of the stack
   pointer. The rule of its caller is then for another stack. */
static enum step load_far(const struct walk *walk, uintptr_t address, uintptr_t *ret) {
  const struct unwind_memory *stack = walk->stack;
  bool is_first = !walk->is_exact && walk->at.sp % UNWIND_PAGE_BYTES == 0;
  if (address < walk->at.sp) return STEP_BAD;
  if (walk->is_guess || is_first || address >= stack->far || stack->far - address < WORD ||
      !unwind_map_holds(stack->stacks->map, stack->stacks->serial))
    return STEP_OTHER;
  *ret = *(const volatile uintptr_t *)address;
  return STEP_ON;
}

/* The word at ADDRESS outside the copy, or the reason why there is none: it was not copied, or it
   cannot be of this stack. */
static __attribute__((noinline)) enum step outside(const struct walk *walk, uintptr_t address,
                                                   uintptr_t *ret) {
  const struct unwind_memory *stack = walk->stack;
  uintptr_t sp = walk->at.sp;
  if (stack->is_other) return load_far(walk, address, ret);
  if (sp < stack->low || sp > stack->high) return STEP_CUT; /* on another stack */
  if (stack->is_whole || address < sp || address - sp > REACH_MAX) return STEP_BAD;
  return STEP_CUT;
}

static inline enum step load(const struct walk *walk, uintptr_t address, uintptr_t *ret) {
  const struct unwind_memory *stack = walk->stack;
  if (address % WORD != 0) return STEP_BAD;
  if (address < stack->low || address >= stack->high || stack->high - address < WORD)
    return outside(walk, address, ret);
  const void *at = stack->bytes + (address - stack->low);
  *ret = ((const struct word *)at)->value;
  return STEP_ON;
}

const struct unwind_region *unwind_region_find(const struct unwind_code *code, uintptr_t pc) {
  const struct unwind_region *first = code->regions, *end = code->regions + code->count;
  const struct unwind_region *last = end;
  while (first < end) {
    const struct unwind_region *middle = first + (end - first) / 2;
    if (middle->end <= pc)
      first = middle + 1;
    else
      end = middle;
  }
  return first < last && first->start <= pc ? first : NULL;
}

static inline bool is_code(const struct walk *walk, uintptr_t pc) {
  return unwind_region_find(walk->code, pc) != NULL;
}

const struct unwind_rule *unwind_rule_find(const struct unwind_code *code,
                                           const struct unwind_region *region, uint64_t place) {
  if (region == NULL) return NULL;
  /* A single volatile read: the map may change meanwhile (unwind_map.c). */
  uintptr_t at = (uintptr_t) * (const volatile uint64_t *)&region->table;
  if (at % sizeof(uint64_t) != 0 || code->tables_bytes < sizeof(struct unwind_table) ||
      at > code->tables_bytes - sizeof(struct unwind_table))
    return NULL;
  const struct unwind_table *table = (const struct unwind_table *)(code->tables + at);
  struct unwind_table head = *table;
  if (unwind_table_check(&head, code->tables_bytes - at, unwind_arch.machine) != 0) return NULL;
  const struct unwind_rule *rule =
      unwind_table_look(&head, table, place - region->start + region->address);
  return rule != NULL && rule->cfa != UNWIND_CFA_NONE ? rule : NULL;
}

bool unwind_is_uncalled(const struct unwind_code *code, const struct unwind_region *region,
                        uintptr_t pc) {
  const struct unwind_rule *rule = unwind_rule_find(code, region, pc - 1);
  return rule != NULL && rule->cfa != UNWIND_CFA_SIGNAL &&
         unwind_rule_find(code, region, pc - unwind_arch.call_bytes) == NULL;
}

/* The rule for PLACE, in WALK's region, or NULL. */
static const struct unwind_rule *find_rule(const struct walk *walk, uint64_t place) {
  return unwind_rule_find(walk->code, walk->region, place);
}

/* The word at ADDRESS, plus ADDEND. */
static enum step load_plus(const struct walk *walk, uintptr_t address, int16_t addend,
                           uintptr_t *ret) {
  enum step step = load(walk, address, ret);
  if (step == STEP_ON) *ret = plus(*ret, addend);
  return step;
}

/* The value of general register N, as numbered in the table. */
static enum step load_general(const struct walk *walk, unsigned n, uintptr_t *ret) {
  if (walk->at.general == NULL || n >= unwind_arch.general_count) return STEP_LOST;
  const void *at = walk->at.general + n * unwind_arch.signal.general_step;
  *ret = ((const struct word *)at)->value;
  return STEP_ON;
}

/* The value that RULE computes from a general register. */
static enum step from_general(const struct walk *walk, const struct unwind_rule *rule,
                              uintptr_t *ret) {
  bool is_known = walk->is_exact || (rule->flags & UNWIND_REG_KEPT) != 0;
  uintptr_t value = 0;
  enum step step =
      is_known ? load_general(walk, *(const volatile uint8_t *)&rule->reg, &value) : STEP_LOST;
  *ret = plus(value, rule->offset);
  return step;
}

static enum step frame_address(const struct walk *walk, const struct unwind_rule *rule,
                               uintptr_t *ret) {
  const struct unwind_registers *at = &walk->at;
  switch (rule->cfa) {
  case UNWIND_CFA_SP:
    *ret = plus(at->sp, rule->offset);
    return STEP_ON;
  case UNWIND_CFA_TRACKED:
    *ret = plus(at->tracked[0], rule->offset);
    return STEP_ON;
  case UNWIND_CFA_TRACKED_2:
    *ret = plus(at->tracked[1], rule->offset);
    return STEP_ON;
  case UNWIND_CFA_SP_WORD:
    return load_plus(walk, plus(at->sp, rule->offset), rule->addend, ret);
  case UNWIND_CFA_TRACKED_WORD:
    return load_plus(walk, plus(at->tracked[0], rule->offset), rule->addend, ret);
  case UNWIND_CFA_PLT:
    *ret = plus(at->sp, rule->offset) + (at->pc % 16 >= (uint16_t)rule->addend ? WORD : 0);
    return STEP_ON;
  case UNWIND_CFA_TRACKED_2_WORD:
    return load_plus(walk, plus(at->tracked[1], rule->offset), rule->addend, ret);
  case UNWIND_CFA_GENERAL:
    return from_general(walk, rule, ret);
  case UNWIND_CFA_GENERAL_WORD:
    return from_general(walk, rule, ret) == STEP_ON ? load_plus(walk, *ret, rule->addend, ret)
                                                    : STEP_LOST;
  default:
    return STEP_LOST;
  }
}

/* True if OFFSET, of a rule, names the general register that has the value. */
static inline bool is_in_general(int16_t offset) {
  return offset < UNWIND_OFFSET_MIN && offset != UNWIND_SAME;
}

static enum step moved(const struct walk *walk, int16_t offset, uintptr_t *ret) {
  if (!walk->is_exact) return STEP_LOST;
  return load_general(walk, (unsigned)(offset - UNWIND_IN_GENERAL), ret);
}

static enum step return_address(const struct walk *walk, const struct unwind_rule *rule,
                                uintptr_t from, uintptr_t *ret) {
  enum step step = STEP_ON;
  if (is_in_general(rule->return_address))
    step = moved(walk, rule->return_address, ret);
  else if (rule->return_address != UNWIND_SAME)
    step = load(walk, plus(from, rule->return_address), ret);
  else if (unwind_arch.has_lr && walk->is_exact)
    *ret = walk->at.lr;
  else
    return STEP_BAD;
  *ret &= (uintptr_t)unwind_arch.return_mask;
  return step;
}

/* True if the value at ADDRESS may be overwritten. An epilogue has popped the words below the stack
   pointer of interrupted code, and a signal's frame overwrites all but the red zone. */
static bool may_be_gone(const struct walk *walk, uintptr_t address) {
  uintptr_t sp = walk->at.sp;
  if (!walk->is_exact || address >= sp) return false;
  return sp - address > unwind_arch.red_zone || address < walk->stack->low;
}

/* Restores a register's saved value. AT stays unchanged if it was not saved, or if the saved value
   may be overwritten: compilers do not describe that an epilogue has popped it. */
static enum step restore(const struct walk *walk, uintptr_t from, int16_t offset, uintptr_t *at) {
  if (offset == UNWIND_SAME) return STEP_ON;
  if (is_in_general(offset)) return moved(walk, offset, at);
  uintptr_t address = plus(from, offset);
  return may_be_gone(walk, address) ? STEP_ON : load(walk, address, at);
}

/* Moves WALK to NEXT. */
static enum step stand_at(struct walk *walk, const struct unwind_registers *next, bool is_exact) {
  const struct unwind_region *region =
      unwind_region_find(walk->code, next->pc - (is_exact ? 0 : 1));
  if (region == NULL) return walk->code->is_partial ? STEP_LOST : STEP_BAD;
  walk->at = *next;
  walk->region = region;
  walk->is_exact = is_exact;
  walk->is_chain = false;
  walk->is_sp_low = false;
  return STEP_ON;
}

/* NEXT is the caller of WALK's current frame. MAY_STAY: the return address was in a register. */
static inline __attribute__((always_inline)) enum step
go_to(struct walk *walk, const struct unwind_registers *next, bool may_stay) {
  if (next->pc == 0) return STEP_OVER;
  if (next->sp < walk->at.sp || (next->sp == walk->at.sp && !may_stay)) return STEP_BAD;
  return stand_at(walk, next, false);
}

static enum step step_by_rule(struct walk *walk, const struct unwind_rule *rule) {
  struct unwind_registers next = walk->at;
  if (rule->flags & UNWIND_GUESSED) walk->is_guess = true;
  enum step step = frame_address(walk, rule, &next.sp);
  if (step != STEP_ON) return step;
  uintptr_t place = next.sp - (rule->flags & UNWIND_AT_BASE ? (uintptr_t)rule->offset : 0);
  uintptr_t from = rule->flags & UNWIND_AT_TRACKED ? walk->at.tracked[0] : place;
  step = return_address(walk, rule, place, &next.pc);
  for (unsigned i = 0; i < UNWIND_TRACKED && step == STEP_ON; i++)
    step = restore(walk, from, rule->saved[i], &next.tracked[i]);
  bool may_stay = walk->is_exact && (unwind_arch.has_lr || is_in_general(rule->return_address));
  return step == STEP_ON ? go_to(walk, &next, may_stay) : step;
}

/* The copy of the general registers that the kernel saved at ADDRESS; NULL if not all of them were
   copied. */
static const uint8_t *saved_general(const struct walk *walk, uintptr_t address) {
  const struct unwind_memory *stack = walk->stack;
  uintptr_t bytes = (uintptr_t)unwind_arch.general_count * unwind_arch.signal.general_step;
  if (address < stack->low || address >= stack->high || stack->high - address < bytes) return NULL;
  return stack->bytes + (address - stack->low);
}

/* Adjusts the recorded address of this frame so that readers, which subtract one, get the exact
   address. */
static void name_exactly(const struct walk *walk) {
  if (!walk->is_exact) walk->path->pcs[walk->path->depth - 1] = (uint64_t)walk->at.pc + 1;
}

/* The kernel puts a signal's frame directly below the interrupted code's stack pointer, unless the
   handler has its own stack. */
static __attribute__((noinline)) void step_off(struct walk *walk, uintptr_t sp) {
  const struct unwind_memory *stack = walk->stack;
  bool is_near = sp >= walk->at.sp && sp - walk->at.sp <= SIGNAL_FRAME_BYTES_MAX;
  if (sp >= stack->low && sp < stack->high) return;
  if (stack->stacks != NULL)
    unwind_stacks_find(stack->stacks, sp, &walk->next);
  else if (stack->is_whole || !is_near)
    walk->next = (struct unwind_memory){.is_other = true};
  else
    return;
  walk->stack = &walk->next;
  walk->guess.depth = 0; /* its registers belong to the previous stack */
}

static enum step step_over_signal(struct walk *walk, const struct unwind_rule *rule) {
  const struct unwind_signal_frame *frame = &unwind_arch.signal;
  struct unwind_registers next = walk->at;
  uintptr_t sp = plus(walk->at.sp, rule->offset);
  enum step step = load(walk, sp + frame->pc, &next.pc);
  if (step == STEP_ON) step = load(walk, sp + frame->sp, &next.sp);
  if (step == STEP_ON && unwind_arch.has_lr) step = load(walk, sp + frame->lr, &next.lr);
  for (unsigned i = 0; i < UNWIND_TRACKED && step == STEP_ON; i++)
    step = load(walk, sp + frame->tracked[i], &next.tracked[i]);
  if (step != STEP_ON) return step;
  next.general = saved_general(walk, sp + frame->general);
  step_off(walk, next.sp);
  return stand_at(walk, &next, true);
}

/* Steps by the frame pointer, if it points at a possible frame. */
static enum step step_by_frame(struct walk *walk) {
  struct unwind_registers next = walk->at;
  uintptr_t pair = plus(walk->at.tracked[0], unwind_arch.pair_offset);
  if (!unwind_arch.has_frame_pairs) return STEP_LOST;
  walk->is_guess = true;
  if (walk->at.tracked[0] == 0 && walk->is_chain) return STEP_OVER;
  if (pair < walk->at.sp) return STEP_LOST;
  enum step step = load(walk, pair, &next.tracked[0]);
  if (step == STEP_ON) step = load(walk, pair + WORD, &next.pc);
  if (step != STEP_ON) return step == STEP_CUT || step == STEP_OTHER ? step : STEP_LOST;
  next.pc &= (uintptr_t)unwind_arch.return_mask;
  next.sp = pair + 2 * WORD;
  if (next.pc != 0 && !is_code(walk, next.pc - 1)) return STEP_LOST;
  step = go_to(walk, &next, false);
  walk->is_chain = true;
  walk->is_sp_low = !unwind_arch.is_pair_at_top;
  return step;
}

/* Steps by the link register, for a leaf that has changed neither stack nor link register. */
static enum step step_by_link(struct walk *walk) {
  struct unwind_registers next = walk->at;
  next.pc = walk->at.lr & (uintptr_t)unwind_arch.return_mask;
  if (!unwind_arch.has_lr || !walk->is_exact || !is_code(walk, next.pc - 1)) return STEP_LOST;
  walk->is_guess = true;
  return go_to(walk, &next, true);
}

/* After a frame was left by a pair at its bottom, the stack pointer is somewhere above. If the
   function keeps its own pair, as its rule states, its frame pointer points there, which gives its
   stack pointer. Otherwise nothing is known, and the frame pointer may be any ancestor's. */
static bool find_sp(struct walk *walk, const struct unwind_rule *rule) {
  bool has_pair = rule->cfa == UNWIND_CFA_SP && rule->saved[0] != UNWIND_SAME &&
                  rule->return_address == rule->saved[0] + WORD;
  uintptr_t pair = plus(walk->at.tracked[0], unwind_arch.pair_offset);
  uintptr_t sp = plus(pair, -rule->saved[0]);
  if ((rule->flags & UNWIND_AT_BASE) == 0) sp -= (uintptr_t)rule->offset;
  if (!has_pair || sp < walk->at.sp) return false;
  walk->at.sp = sp;
  return true;
}

static void note_guess(struct walk *walk) {
  walk->guess = (struct guess){.sp = walk->at.sp, .depth = walk->path->depth};
  for (unsigned i = 0; i < UNWIND_TRACKED; i++) walk->guess.tracked[i] = walk->at.tracked[i];
}

static bool counts_from_frame_pointer(const struct unwind_rule *rule) {
  return rule->cfa == UNWIND_CFA_TRACKED || rule->cfa == UNWIND_CFA_TRACKED_WORD;
}

static enum step step_without_rule(struct walk *walk) {
  enum step step = step_by_frame(walk);
  return step == STEP_LOST ? step_by_link(walk) : step;
}

/* True if RULE can be that of a function's first instruction: the stack is as the call has left
   it. */
static bool is_of_entry(const struct unwind_rule *rule) {
  int16_t from = unwind_arch.has_lr ? UNWIND_SAME : -WORD;
  if (rule == NULL || rule->cfa != UNWIND_CFA_SP || rule->return_address != from) return false;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (rule->saved[i] != UNWIND_SAME) return false;
  return rule->offset == (unwind_arch.has_lr ? 0 : WORD);
}

/* The rule for WALK's frame. If there is none for the byte before a return address, the rule of a
   function that begins at the address itself: then there is no caller. */
static const struct unwind_rule *rule_of(struct walk *walk, bool *ret_is_entry) {
  const struct unwind_rule *rule = find_rule(walk, walk->at.pc - (walk->is_exact ? 0 : 1));
  if (walk->is_exact || (rule != NULL && !walk->stack->is_other)) return rule;
  const struct unwind_rule *next = find_rule(walk, walk->at.pc);
  if (is_of_entry(next)) walk->is_guess = true;
  if (rule != NULL) return rule;
  *ret_is_entry = next != NULL;
  return next;
}

static enum step step(struct walk *walk) {
  bool is_entry = false;
  const struct unwind_rule *rule = rule_of(walk, &is_entry);
  if (rule == NULL) return step_without_rule(walk);
  if (is_entry || rule->cfa == UNWIND_CFA_SIGNAL) name_exactly(walk);
  if (rule->cfa == UNWIND_CFA_END || (is_entry && rule->cfa != UNWIND_CFA_SIGNAL)) return STEP_OVER;
  if ((rule->flags & UNWIND_GUESSED) != 0) note_guess(walk);
  if (walk->is_sp_low && !counts_from_frame_pointer(rule) && !find_sp(walk, rule)) return STEP_LOST;
  if (rule->cfa == UNWIND_CFA_SIGNAL) return step_over_signal(walk, rule);
  return step_by_rule(walk, rule);
}

/* Returns to the last frame that was left by a guess. False if there is none. */
static bool return_to_guess(struct walk *walk) {
  if (walk->guess.depth == 0 || ++walk->guesses > GUESSES_MAX) return false;
  walk->at.sp = walk->guess.sp;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++) walk->at.tracked[i] = walk->guess.tracked[i];
  walk->at.general = NULL;
  walk->is_exact = walk->is_chain = walk->is_sp_low = false;
  return true;
}

/* The walk has failed with FAILED. It is complete if its last frame has no caller. Otherwise it
   continues from its last guess by the frame pointer. If that also fails, it ends with FAILED. */
static __attribute__((noinline, cold)) enum step recover(struct walk *walk, enum step failed) {
  bool is_wrong = failed == STEP_LOST || failed == STEP_BAD;
  if (!walk->is_exact && unwind_is_uncalled(walk->code, walk->region, walk->at.pc))
    return STEP_OVER;
  if (!is_wrong || !return_to_guess(walk) || step_by_frame(walk) != STEP_ON) return failed;
  walk->path->depth = walk->guess.depth;
  walk->guess.depth = 0;
  return STEP_ON;
}

static enum unwind_end end_of(enum step step) {
  switch (step) {
  case STEP_OVER:
    return UNWIND_COMPLETE;
  case STEP_LOST:
    return UNWIND_UNKNOWN;
  case STEP_BAD:
    return UNWIND_BAD;
  case STEP_OTHER:
    return UNWIND_OTHER;
  case STEP_ON: /* more frames, but no room for them */
  default:
    return UNWIND_TRUNCATED;
  }
}

void unwind_walk(const struct unwind_registers *at, const struct unwind_memory *stack,
                 const struct unwind_code *code, struct unwind_path *path) {
  struct walk walk = {.at = *at, .stack = stack, .code = code, .is_exact = true, .path = path};
  walk.region = unwind_region_find(code, at->pc);
  enum step taken = STEP_ON;
  path->pcs[0] = at->pc;
  path->depth = 1;
  for (;;) {
    taken = step(&walk);
    if (__builtin_expect(taken > STEP_OVER, 0)) taken = recover(&walk, taken);
    if (taken != STEP_ON || path->depth >= path->room) break;
    path->pcs[path->depth++] = (uint64_t)walk.at.pc + walk.is_exact;
  }
  path->end = end_of(taken);
}
