/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of registers, single words and the coprocessors' loads and stores are the same in two
   encodings. A register that is the base of its own load is loaded last, because effects are
   applied one by one. A load of the program counter is a return if its stack slot holds the return
   address. */
#include "instruction_arm.h"

void instruction_arm_go(struct instruction *in, uint32_t reg) {
  in->flow = reg == ARM_LR ? FLOW_RETURN : FLOW_AWAY;
}

static void load_block(struct instruction *in, const struct arm_block *block) {
  int32_t at = block->first, base_at = 0;
  for (uint32_t reg = 0; reg < ARM_PC; reg++) {
    if ((block->list >> reg & 1) == 0) continue;
    if (reg == block->base)
      base_at = at;
    else
      instruction_load(in, reg, block->base, at);
    at += 4;
  }
  if (block->list >> block->base & 1)
    instruction_load(in, block->base, block->base, base_at);
  else if (block->step != 0)
    instruction_move(in, block->base, block->base, block->step);
  if (block->list >> ARM_PC & 1) in->flow = FLOW_RETURN;
}

static void store_block(struct instruction *in, const struct arm_block *block) {
  int32_t at = block->first;
  for (uint32_t reg = 0; reg <= ARM_PC; reg++) {
    if ((block->list >> reg & 1) == 0) continue;
    if (reg != ARM_PC) instruction_store(in, reg, block->base, at);
    at += 4;
  }
  if (block->step != 0) instruction_move(in, block->base, block->base, block->step);
}

void instruction_arm_block(struct instruction *in, const struct arm_block *block) {
  if (block->is_load)
    load_block(in, block);
  else
    store_block(in, block);
}

struct arm_block instruction_arm_block_of(uint32_t word, uint32_t list) {
  bool is_before = word >> 24 & 1, is_up = word >> 23 & 1, is_back = word >> 21 & 1;
  int32_t bytes = 4 * __builtin_popcount(list);
  int32_t lowest = is_up ? (is_before ? 4 : 0) : (is_before ? -bytes : 4 - bytes);
  return (struct arm_block){.list = list,
                            .base = word >> 16 & 15,
                            .is_load = word >> 20 & 1,
                            .first = lowest,
                            .step = !is_back ? 0 : (is_up ? bytes : -bytes)};
}

static void access_word(struct instruction *in, const struct arm_access *access, int32_t at) {
  bool is_own_base = access->reg == access->base && (access->is_after || access->is_back);
  if (access->is_load && access->reg == ARM_PC)
    in->flow = access->base == ARM_SP ? FLOW_RETURN : FLOW_AWAY;
  else if (access->is_load && access->is_word && !is_own_base)
    instruction_load(in, access->reg, access->base, at);
  else if (access->is_load)
    instruction_lose(in, access->reg);
  else if (access->is_word && access->reg != ARM_PC)
    instruction_store(in, access->reg, access->base, at);
}

void instruction_arm_access(struct instruction *in, const struct arm_access *access) {
  int32_t at = access->is_after ? 0 : access->offset;
  access_word(in, access, at);
  if (access->is_pair) {
    struct arm_access second = *access;
    second.reg = access->second;
    access_word(in, &second, at + 4);
  }
  if (access->is_after || access->is_back)
    instruction_move(in, access->base, access->base, access->offset);
}

void instruction_arm_lose(struct instruction *in, uint32_t reg) {
  if (reg == ARM_PC)
    in->flow = FLOW_AWAY;
  else
    instruction_lose(in, reg);
}

void instruction_arm_literal(struct instruction *in, uint32_t reg, const struct arm_code *code,
                             int32_t offset) {
  in->literal = (code->address & ~UINT64_C(3)) + (uint64_t)(int64_t)offset;
  uint64_t at = in->literal - code->address;
  if (reg == ARM_PC || code->bytes.len < 4 || at > code->bytes.len - 4) {
    instruction_arm_lose(in, reg);
    return;
  }
  const uint8_t *bytes = code->bytes.data + at;
  instruction_set(in, reg,
                  (int32_t)(instruction_arm_half(bytes) | instruction_arm_half(bytes + 2) << 16));
}

/* VLDM, VSTM: TO is the number of words. */
static void move_floats(struct instruction *in, uint32_t word) {
  bool is_back = word >> 21 & 1, is_up = word >> 23 & 1;
  int32_t bytes = 4 * (int32_t)(word & 0xff);
  uint32_t base = word >> 16 & 15;
  if (is_back && base != ARM_PC) instruction_move(in, base, base, is_up ? bytes : -bytes);
}

void instruction_arm_coprocessor(struct instruction *in, uint32_t word) {
  bool is_load = word >> 20 & 1;
  uint32_t low = word >> 12 & 15, high = word >> 16 & 15;
  bool is_pair = (word & 0x0fe00000) == 0x0c400000;
  bool is_register = (word & 0x0f000010) == 0x0e000010;
  if (is_pair && is_load) {
    if (low != ARM_PC) instruction_lose(in, low);
    if (high != ARM_PC) instruction_lose(in, high);
  } else if (is_register && is_load && low != ARM_PC) {
    instruction_lose(in, low);
  } else if (!is_pair && (word & 0x0e000000) == 0x0c000000) {
    move_floats(in, word);
  }
}

void instruction_arm_immediate(struct instruction *in, enum arm_operation operation,
                               struct effect effect) {
  if (operation == ARM_COMPARE) return;
  if (effect.to == ARM_PC) {
    in->flow = FLOW_AWAY;
  } else if (effect.from == ARM_PC && operation <= ARM_SUBTRACT) {
    instruction_lose(in, effect.to);
  } else if (operation == ARM_ADD || operation == ARM_SUBTRACT) {
    instruction_move(in, effect.to, effect.from,
                     operation == ARM_ADD ? effect.value : -effect.value);
  } else if (operation == ARM_MOVE || operation == ARM_MOVE_NOT) {
    int64_t value = operation == ARM_MOVE ? effect.value : ~effect.value;
    instruction_set(in, effect.to, (int32_t)value);
  } else {
    instruction_lose(in, effect.to);
  }
}

void instruction_arm_registers(struct instruction *in, enum arm_operation operation,
                               struct effect effect) {
  if (operation == ARM_COMPARE) return;
  bool uses_pc = effect.by == ARM_PC || (effect.from == ARM_PC && operation != ARM_MOVE);
  if (effect.to == ARM_PC && operation == ARM_MOVE) {
    instruction_arm_go(in, effect.by);
  } else if (effect.to == ARM_PC) {
    in->flow = FLOW_AWAY;
  } else if (operation > ARM_MOVE || uses_pc) {
    instruction_lose(in, effect.to);
  } else if (operation == ARM_MOVE) {
    instruction_move(in, effect.to, effect.by, 0);
  } else {
    effect.kind = operation == ARM_ADD ? EFFECT_SUM : EFFECT_SUBTRACT;
    instruction_add(in, effect);
  }
}
