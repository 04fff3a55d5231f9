/* SPDX-License-Identifier: Apache-2.0 */
/* A register holds a number, the frame's address plus a number, its value at the function's start,
   or an unknown value. Of memory only three words are tracked: where the link register and the
   tracked registers were saved. A popped word no longer counts, because a signal handler may have
   overwritten it.

   If the stack pointer is unknown (alloca, alignment), the frame is found from a tracked register
   that points into it; without one there is no rule. */
#include "prologue_state.h"

static struct prologue_value unknown(void) {
  return (struct prologue_value){0, PROLOGUE_UNKNOWN};
}

static bool is_same(struct prologue_value a, struct prologue_value b) {
  return a.kind == b.kind && a.offset == b.offset;
}

void prologue_state_enter(const struct instruction_cpu *cpu, struct prologue_state *state) {
  for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
    state->registers[i] = (struct prologue_value){i, PROLOGUE_INITIAL};
  bool is_pushed = cpu->lr == INSTRUCTION_NO_REGISTER;
  int64_t pushed = is_pushed ? -(int64_t)cpu->word_bytes : 0;
  state->registers[cpu->sp] = (struct prologue_value){pushed, PROLOGUE_FRAME};
  state->saved_lr = is_pushed ? pushed : PROLOGUE_NOT_SAVED;
  state->is_root = false;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++) state->saved[i] = PROLOGUE_NOT_SAVED;
}

/* The address at which STATE keeps REG's initial value, or NULL if REG is not tracked. */
static int64_t *saved_place(const struct instruction_cpu *cpu, struct prologue_state *state,
                            uint64_t reg) {
  if (reg == cpu->lr) return &state->saved_lr;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (reg == cpu->tracked[i]) return &state->saved[i];
  return NULL;
}

static bool add(int64_t a, int64_t b, int64_t *ret) {
  return !__builtin_add_overflow(a, b, ret);
}

static struct prologue_value moved(struct prologue_value value, int64_t by) {
  bool is_movable = value.kind == PROLOGUE_NUMBER || value.kind == PROLOGUE_FRAME;
  if (by == 0) return value;
  return is_movable && add(value.offset, by, &value.offset) ? value : unknown();
}

static struct prologue_value sum(struct prologue_value a, struct prologue_value b) {
  if (b.kind == PROLOGUE_NUMBER) return moved(a, b.offset);
  return a.kind == PROLOGUE_NUMBER ? moved(b, a.offset) : unknown();
}

static struct prologue_value difference(struct prologue_value a, struct prologue_value b) {
  if (b.kind != PROLOGUE_NUMBER || b.offset == INT64_MIN) return unknown();
  return moved(a, -b.offset);
}

static struct prologue_value inserted(struct prologue_value value, unsigned shift, int64_t part) {
  uint64_t field = UINT64_C(0xffff) << shift;
  if (value.kind != PROLOGUE_NUMBER) return unknown();
  value.offset = (int64_t)(((uint64_t)value.offset & ~field) | (((uint64_t)part << shift) & field));
  return value;
}

static bool has_initial(const struct prologue_state *state, uint8_t reg) {
  return reg < INSTRUCTION_REGISTERS && state->registers[reg].kind == PROLOGUE_INITIAL &&
         state->registers[reg].offset == reg;
}

/* The word at OFFSET of the frame was popped. */
static bool is_popped(const struct instruction_cpu *cpu, const struct prologue_state *state,
                      int64_t offset) {
  struct prologue_value sp = state->registers[cpu->sp];
  return sp.kind == PROLOGUE_FRAME && offset < sp.offset;
}

/* PLACE, where REG was saved, is overwritten. No compiler does that while it needs the value. */
static void overwrite(const struct prologue_state *state, uint8_t reg, int64_t *place) {
  if (has_initial(state, reg)) *place = PROLOGUE_NOT_SAVED;
}

/* A word at FRAME + OFFSET becomes VALUE. */
static void store(const struct instruction_cpu *cpu, struct prologue_state *state, int64_t offset,
                  struct prologue_value value) {
  if (state->saved_lr == offset) overwrite(state, cpu->lr, &state->saved_lr);
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (state->saved[i] == offset) overwrite(state, cpu->tracked[i], &state->saved[i]);
  if (value.kind != PROLOGUE_INITIAL) return;
  int64_t *place = saved_place(cpu, state, (uint64_t)value.offset);
  if (place == NULL) return;
  if (*place == PROLOGUE_NOT_SAVED || is_popped(cpu, state, *place)) *place = offset;
}

static struct prologue_value loaded(const struct instruction_cpu *cpu,
                                    const struct prologue_state *state, int64_t offset) {
  if (state->saved_lr == offset && cpu->lr != INSTRUCTION_NO_REGISTER)
    return (struct prologue_value){cpu->lr, PROLOGUE_INITIAL};
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (state->saved[i] == offset)
      return (struct prologue_value){cpu->tracked[i], PROLOGUE_INITIAL};
  return unknown();
}

static void reach_memory(const struct instruction_cpu *cpu, struct prologue_state *state,
                         const struct effect *effect) {
  struct prologue_value place = moved(state->registers[effect->from], effect->value);
  bool is_frame = place.kind == PROLOGUE_FRAME;
  struct prologue_value *to = &state->registers[effect->to];
  if (effect->kind == EFFECT_LOAD)
    *to = is_frame ? loaded(cpu, state, place.offset) : unknown();
  else if (is_frame)
    store(cpu, state, place.offset, *to);
}

static void take_effect(const struct instruction_cpu *cpu, struct prologue_state *state,
                        const struct effect *effect) {
  struct prologue_value *to = &state->registers[effect->to];
  struct prologue_value from = state->registers[effect->from];
  switch (effect->kind) {
  case EFFECT_SET:
    *to = (struct prologue_value){effect->value, PROLOGUE_NUMBER};
    break;
  case EFFECT_INSERT:
    *to = inserted(*to, effect->by, effect->value);
    break;
  case EFFECT_OR:
    *to = from.kind == PROLOGUE_NUMBER
              ? (struct prologue_value){from.offset | effect->value, PROLOGUE_NUMBER}
              : unknown();
    break;
  case EFFECT_ADD:
    *to = moved(from, effect->value);
    break;
  case EFFECT_SUM:
    *to = sum(from, state->registers[effect->by]);
    break;
  case EFFECT_SUBTRACT:
    *to = difference(from, state->registers[effect->by]);
    break;
  case EFFECT_STORE:
  case EFFECT_LOAD:
    reach_memory(cpu, state, effect);
    break;
  default:
    *to = unknown();
  }
}

void prologue_state_step(const struct instruction_cpu *cpu, struct prologue_state *state,
                         const struct instruction *instruction) {
  for (unsigned i = 0; i < instruction->count; i++)
    take_effect(cpu, state, &instruction->effects[i]);
}

void prologue_state_agree(struct prologue_state *state, const struct prologue_state *other) {
  for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
    if (!is_same(state->registers[i], other->registers[i])) state->registers[i] = unknown();
  if (state->saved_lr != other->saved_lr) state->saved_lr = PROLOGUE_NOT_SAVED;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (state->saved[i] != other->saved[i]) state->saved[i] = PROLOGUE_NOT_SAVED;
}

void prologue_state_call(const struct instruction_cpu *cpu, struct prologue_state *state) {
  for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
    if ((cpu->kept_by_calls >> i & 1) == 0) state->registers[i] = unknown();
}

bool prologue_state_is_bare(const struct instruction_cpu *cpu, const struct prologue_state *state) {
  struct prologue_value sp = state->registers[cpu->sp];
  int64_t start = cpu->lr == INSTRUCTION_NO_REGISTER ? -(int64_t)cpu->word_bytes : 0;
  return sp.kind == PROLOGUE_FRAME && sp.offset == start;
}

/* Finds the base of the frame's address. */
static bool find_frame(const struct instruction_cpu *cpu, const struct prologue_state *state,
                       struct unwind_rule *rule) {
  const uint8_t bases[] = {cpu->sp, cpu->tracked[0], cpu->tracked[1]};
  const uint8_t cfa[] = {UNWIND_CFA_SP, UNWIND_CFA_TRACKED, UNWIND_CFA_TRACKED_2};
  for (unsigned i = 0; i < sizeof bases; i++) {
    struct prologue_value base = state->registers[bases[i]];
    bool fits = base.offset <= 0 && base.offset >= -INT32_MAX;
    if (base.kind != PROLOGUE_FRAME || (!fits && i > 0)) continue;
    if (!fits) return false;
    rule->cfa = cfa[i];
    rule->offset = (int32_t)-base.offset;
    return true;
  }
  return false;
}

/* True if a word saved at OFFSET of the frame is still there. */
static bool is_kept(const struct instruction_cpu *cpu, const struct prologue_state *state,
                    int64_t offset) {
  struct prologue_value sp = state->registers[cpu->sp];
  if (offset == PROLOGUE_NOT_SAVED) return false;
  return sp.kind != PROLOGUE_FRAME || offset >= sp.offset;
}

static bool is_far(int64_t offset) {
  return offset < UNWIND_OFFSET_MIN || offset > INT16_MAX;
}

/* The base of RULE's offsets: the frame's bottom if something is too far from its top. */
static int64_t distance_of(const struct instruction_cpu *cpu, const struct prologue_state *state,
                           const struct unwind_rule *rule) {
  bool has_far = is_kept(cpu, state, state->saved_lr) && is_far(state->saved_lr);
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    has_far = has_far || (is_kept(cpu, state, state->saved[i]) && is_far(state->saved[i]));
  return has_far ? rule->offset : 0;
}

/* The rule's offset of a word at OFFSET and DISTANCE. Returns false if that is too far for a
   rule. */
static bool fit_word(bool is_there, int64_t offset, int64_t distance, int16_t *ret) {
  *ret = is_there ? (int16_t)(offset + distance) : (int16_t)UNWIND_SAME;
  return !is_there || !is_far(offset + distance);
}

bool prologue_state_would_lose(const struct instruction_cpu *cpu,
                               const struct prologue_state *state) {
  if (!has_initial(state, cpu->lr) || state->saved_lr != PROLOGUE_NOT_SAVED) return false;
  for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++) {
    struct prologue_value value = state->registers[i];
    if (i != cpu->lr && value.kind == PROLOGUE_INITIAL && value.offset == cpu->lr) return false;
  }
  return true;
}

struct unwind_rule prologue_state_rule(const struct instruction_cpu *cpu,
                                       const struct prologue_state *state) {
  const struct unwind_rule untold = {.cfa = UNWIND_CFA_UNTOLD}, root = {.cfa = UNWIND_CFA_END};
  struct unwind_rule rule = {.return_address = UNWIND_SAME};
  if (state->is_root) return root;
  if (!find_frame(cpu, state, &rule)) return untold;
  int64_t distance = distance_of(cpu, state, &rule);
  if (distance != 0) rule.flags = UNWIND_AT_BASE;
  bool fits = fit_word(is_kept(cpu, state, state->saved_lr), state->saved_lr, distance,
                       &rule.return_address);
  if (rule.return_address == UNWIND_SAME && !has_initial(state, cpu->lr)) return untold;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    fits =
        fit_word(is_kept(cpu, state, state->saved[i]), state->saved[i], distance, &rule.saved[i]) &&
        fits;
  rule.flags |= UNWIND_GUESSED;
  return fits ? rule : untold;
}
