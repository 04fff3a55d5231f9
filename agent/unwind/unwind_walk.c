/* SPDX-License-Identifier: Apache-2.0 */
/* A step takes the registers of one frame to those of its caller. What kind of step is decided at
   each frame by the module that it is in, so one stack may be walked by tables in a library, by
   frame pointers in code that a compiler made at run time, and by the link register at its leaf.

   A caller's place is looked up one byte before its return address: a call that is the last
   instruction of its function is not taken for the next function. A frame that a signal
   interrupted is not a caller: there the address is the very instruction, and the link register
   may still hold what no stack does, as in the first frame.

   No call ends in the gap between two functions.  So a return address that is a function's first
   byte, behind a gap, was put there by hand: that function is the last frame.

   General registers other than the tracked ones are known in a frame that was interrupted.  In a
   caller of it one is known if the table says that no callee writes it.

   A rule that was made from instructions may be wrong.  If the walk fails behind one, it goes on
   from there by the frame pointer, GUESSES_MAX times at most.

   A pair at the bottom of a frame says where the caller's pair is, not its stack pointer
   (AArch64): the caller's own rule and its frame pointer tell that, or the walk ends.

   Progress: a caller's stack pointer lies above its callee's; equal only if the callee was
   interrupted, and a register held its return address. So no stack makes a circle, whatever
   is written on it, and a step that would not rise ends the walk as bad. Only the return from a
   signal's handler may lead anywhere, because handlers have stacks of their own: the walk goes on
   where that stack may be read, or ends with its own reason.

   On a stack that is not the thread's own (unwind_stacks.h) only unwind information is trusted
   beyond the page of the stack pointer, and only while the map is unchanged.  After a frame
   pointer, a guessed rule or a link register the walk stays within that page.  So it does from a
   return address that can be a function's first byte: if it was put there by hand, the byte before
   belongs to a function that has no frame here.

   A return address outside of all code that is known is no caller: the walk ends before it.  One
   that is the first byte of a function, with no function before it, was put there: the first
   function of a coroutine "returns" to it.  The walk is complete with that frame, whose address is
   exact. */
#include "unwind_walk.h"
#include "unwind_stacks.h"

#include <stddef.h>

enum {
  WORD = sizeof(uintptr_t),
  REACH_MAX = 1 << 30, /* bytes: what lies further above the stack pointer is of no frame */
  GUESSES_MAX = 8,     /* given up in one walk: each costs the steps behind it once more */
  SIGNAL_FRAME_BYTES_MAX = 128 << 10, /* more than the registers of any CPU, SVE and SME included */
};

/* As it lies in a copy, which need not be aligned as the stack was. */
struct word {
  uintptr_t value;
} __attribute__((packed, may_alias));

/* The last frame that was left by a guessed rule, as far as a frame pointer needs it. */
struct guess {
  uintptr_t sp, tracked[UNWIND_TRACKED];
  unsigned depth; /* 0: there is none */
};

/* One walk on its way. */
struct walk {
  struct unwind_registers at;
  const struct unwind_memory *stack;
  struct unwind_memory next; /* the stack that a signal's frame has led to */
  const struct unwind_code *code;
  const struct unwind_region *region; /* where at.pc is, or NULL: in no code that is known */
  bool is_exact;  /* at.pc is an instruction that was interrupted, and lr may be of use */
  bool is_chain;  /* the frame pointer is from a pair: zero ends the chain of pairs */
  bool is_sp_low; /* at.sp is not the stack pointer, but a place below it */
  bool is_guess;  /* from here on frames may be no frames */
  struct unwind_path *path;
  struct guess guess;
  unsigned guesses; /* given up */
};

enum step { STEP_ON, STEP_OVER, STEP_CUT, STEP_LOST, STEP_BAD, STEP_OTHER };

static inline uintptr_t plus(uintptr_t address, int32_t offset) {
  return address + (uintptr_t)offset;
}

/* Beyond the page of the stack pointer a word is read by a rule that is true: one that was found
   while the map changed is none.  Nor is that of a frame which would begin with a page: there a
   stack ends whose first function was called right after a change of the stack pointer, and the
   rule of its caller is for another stack. */
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

/* What there is at ADDRESS, or why there is no word: it was not copied, or it cannot be of this
   stack. */
static __attribute__((noinline)) enum step outside(const struct walk *walk, uintptr_t address,
                                                   uintptr_t *ret) {
  const struct unwind_memory *stack = walk->stack;
  uintptr_t sp = walk->at.sp;
  if (stack->is_other) return load_far(walk, address, ret);
  if (sp < stack->low || sp > stack->high) return STEP_CUT; /* another stack */
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
  /* Once, and by the word that tells: a map may change meanwhile (unwind_map.c). */
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

/* The word at ADDRESS, and ADDEND. */
static enum step load_plus(const struct walk *walk, uintptr_t address, int16_t addend,
                           uintptr_t *ret) {
  enum step step = load(walk, address, ret);
  if (step == STEP_ON) *ret = plus(*ret, addend);
  return step;
}

/* The value of general register N, a number of the table's. */
static enum step load_general(const struct walk *walk, unsigned n, uintptr_t *ret) {
  if (walk->at.general == NULL || n >= unwind_arch.general_count) return STEP_LOST;
  const void *at = walk->at.general + n * unwind_arch.signal.general_step;
  *ret = ((const struct word *)at)->value;
  return STEP_ON;
}

/* What RULE counts from a general register. */
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

/* OFFSET, of a rule, names the general register that has the value. */
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

/* Whether what was at ADDRESS may be gone: below the stack pointer of interrupted code is what its
   epilogue has popped, and a signal's frame is written over all but the red zone. */
static bool may_be_gone(const struct walk *walk, uintptr_t address) {
  uintptr_t sp = walk->at.sp;
  if (!walk->is_exact || address >= sp) return false;
  return sp - address > unwind_arch.red_zone || address < walk->stack->low;
}

/* What a register was saved as; AT stays where it was not saved, or that may be gone: compilers do
   not say that an epilogue has popped it. */
static enum step restore(const struct walk *walk, uintptr_t from, int16_t offset, uintptr_t *at) {
  if (offset == UNWIND_SAME) return STEP_ON;
  if (is_in_general(offset)) return moved(walk, offset, at);
  uintptr_t address = plus(from, offset);
  return may_be_gone(walk, address) ? STEP_ON : load(walk, address, at);
}

/* WALK stands at NEXT from now on. */
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

/* NEXT is the caller of the frame that WALK stands in.  MAY_STAY: the return address was in a
   register. */
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

/* Where the kernel saved all general registers, at ADDRESS; NULL: not all of them were copied. */
static const uint8_t *saved_general(const struct walk *walk, uintptr_t address) {
  const struct unwind_memory *stack = walk->stack;
  uintptr_t bytes = (uintptr_t)unwind_arch.general_count * unwind_arch.signal.general_step;
  if (address < stack->low || address >= stack->high || stack->high - address < bytes) return NULL;
  return stack->bytes + (address - stack->low);
}

/* Readers are to take the address of this frame as it is. */
static void name_exactly(const struct walk *walk) {
  if (!walk->is_exact) walk->path->pcs[walk->path->depth - 1] = (uint64_t)walk->at.pc + 1;
}

/* The kernel puts a signal's frame right below what was interrupted, unless the handler has a stack
   of its own. */
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
  walk->guess.depth = 0; /* its registers are of the stack before */
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

/* Along the frame pointer, where it points at what can be a frame. */
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

/* A leaf that has touched neither stack nor link register. */
static enum step step_by_link(struct walk *walk) {
  struct unwind_registers next = walk->at;
  next.pc = walk->at.lr & (uintptr_t)unwind_arch.return_mask;
  if (!unwind_arch.has_lr || !walk->is_exact || !is_code(walk, next.pc - 1)) return STEP_LOST;
  walk->is_guess = true;
  return go_to(walk, &next, true);
}

/* Where a frame was left by a pair at its bottom, the stack pointer is somewhere above.  A function
   that keeps a pair of its own, as its rule says, has its frame pointer there: so its stack pointer
   is known again.  Of another one nothing is, but that the frame pointer may be any ancestor's. */
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

/* RULE can be that of a function's first instruction: the stack is as the call has left it. */
static bool is_of_entry(const struct unwind_rule *rule) {
  int16_t from = unwind_arch.has_lr ? UNWIND_SAME : -WORD;
  if (rule == NULL || rule->cfa != UNWIND_CFA_SP || rule->return_address != from) return false;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (rule->saved[i] != UNWIND_SAME) return false;
  return rule->offset == (unwind_arch.has_lr ? 0 : WORD);
}

/* The rule for WALK's frame.  Where there is none for the byte before a return address, that of a
   function which begins at the address itself: then there is no caller. */
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

/* Stands in the last frame that was left by a guess again.  Returns false when there is none. */
static bool return_to_guess(struct walk *walk) {
  if (walk->guess.depth == 0 || ++walk->guesses > GUESSES_MAX) return false;
  walk->at.sp = walk->guess.sp;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++) walk->at.tracked[i] = walk->guess.tracked[i];
  walk->at.general = NULL;
  walk->is_exact = walk->is_chain = walk->is_sp_low = false;
  return true;
}

/* The walk has failed by FAILED.  It is complete if its last frame has no caller.  Else it goes on
   from its last guess by the frame pointer; if that fails, too, it ends as it failed first. */
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
  case STEP_ON: /* there is more, but no room for it */
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
