/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions move a virtual stack pointer to its value in the caller. It starts at the stack
   pointer (or the frame pointer) in the middle of a function. They also list the registers to pop:

     00nnnnnn              vsp += 4n + 4            01nnnnnn            vsp -= 4n + 4
     1000mmmm mmmmmmmm     pop r4-r15 by mask       1001nnnn            vsp = r[n]
     1010lnnn              pop r4-r[4+n] (and lr)   10110000            the end
     10110001 0000mmmm     pop r0-r3 by mask        10110010 uleb128    vsp += 516 + 4n
     others                floating-point registers, of which only the size matters

   A popped register is at an offset from the pointer's initial register. At the end these become
   offsets from the frame's address, which is the pointer's final value. */
#include "exidx_code.h"

#include "instruction_arm.h"

enum { FINISH = 0xb0, OFFSET_MAX = 1 << 30 };

#define NOT_POPPED INT64_MIN

struct reader {
  struct span code;
  uint8_t base;
  bool is_based; /* the virtual pointer is relative to a register other than sp */
  int64_t at;    /* the virtual pointer, relative to BASE */
  int64_t popped[ARM_PC + 1];
  const char *why;
};

static uint8_t next(struct reader *reader) {
  struct span byte;
  if (span_take(&reader->code, 1, &byte)) return byte.data[0];
  reader->why = "its instructions are cut off";
  return FINISH;
}

static void pop(struct reader *reader, uint32_t mask) {
  for (uint32_t reg = 0; reg <= ARM_PC; reg++) {
    if ((mask >> reg & 1) == 0) continue;
    reader->popped[reg] = reader->at;
    reader->at += 4;
  }
}

static void pop_some(struct reader *reader, uint8_t byte) {
  uint32_t mask = ((uint32_t)byte & 15) << 12 | (uint32_t)next(reader) << 4;
  if (mask == 0)
    reader->why = "it may not be unwound";
  else
    pop(reader, mask);
}

static void start_from(struct reader *reader, uint8_t reg) {
  if (reg == ARM_SP || reg == ARM_PC) {
    reader->why = "a reserved instruction";
    return;
  }
  for (uint32_t i = 0; i <= ARM_PC; i++)
    if (reader->popped[i] != NOT_POPPED) reader->why = "the stack changes after a register";
  reader->base = reg;
  reader->is_based = true;
  reader->at = 0;
}

static void skip_far(struct reader *reader) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0x80;
  while ((byte & 0x80) != 0 && reader->why == NULL) {
    byte = next(reader);
    if (shift < 28) value |= (uint64_t)(byte & 0x7f) << shift;
    if (shift >= 28 && (byte & 0x7f) != 0) reader->why = "a frame that cannot be";
    shift += 7;
  }
  reader->at += 0x204 + (int64_t)(value << 2);
}

/* 1011 and 11: the other pops. */
static void pop_other(struct reader *reader, uint8_t byte) {
  uint8_t low = byte & 7;
  if (byte == 0xb1) {
    uint8_t mask = next(reader);
    if (mask == 0 || mask > 15) reader->why = "a reserved instruction";
    pop(reader, mask);
  } else if (byte == 0xb2) {
    skip_far(reader);
  } else if (byte == 0xb3) {
    reader->at += 8 * ((next(reader) & 15) + 1) + 4;
  } else if (byte == 0xb4) {
    reader->at += 4; /* the authentication code of the return address */
  } else if (byte >= 0xb8 && byte <= 0xbf) {
    reader->at += 8 * (low + 1) + 4;
  } else if (byte == 0xc7) {
    reader->at += 4 * __builtin_popcount(next(reader) & 15);
  } else if (byte == 0xc6 || byte == 0xc8 || byte == 0xc9) {
    reader->at += 8 * ((next(reader) & 15) + 1);
  } else if ((byte >= 0xc0 && byte <= 0xc5) || (byte >= 0xd0 && byte <= 0xd7)) {
    reader->at += 8 * (low + 1);
  } else if (byte != 0xb5) {
    reader->why = "a reserved instruction";
  }
}

static void take(struct reader *reader, uint8_t byte) {
  int64_t words = (byte & 63) + 1;
  switch (byte >> 4) {
  case 8:
    pop_some(reader, byte);
    break;
  case 9:
    start_from(reader, byte & 15);
    break;
  case 10:
    pop(reader, ((2U << (byte & 7)) - 1) << 4 | (byte & 8 ? 1U << ARM_LR : 0));
    break;
  default:
    if (byte < 0x80)
      reader->at += byte < 0x40 ? 4 * words : -4 * words;
    else
      pop_other(reader, byte);
  }
  if (reader->at > OFFSET_MAX || reader->at < -OFFSET_MAX) reader->why = "a frame that cannot be";
}

static int64_t place(const struct reader *reader, uint8_t reg) {
  int64_t at = reader->popped[reg];
  return at == NOT_POPPED ? PROLOGUE_NOT_SAVED : at - reader->at;
}

/* The stack pointer itself is unknown if the frame is found from another register. */
static void fill(const struct reader *reader, struct prologue_state *ret) {
  prologue_state_enter(&instruction_arm, ret);
  prologue_state_call(&instruction_arm, ret);
  if (reader->is_based) ret->registers[ARM_SP] = (struct prologue_value){0, PROLOGUE_UNKNOWN};
  ret->registers[reader->base] = (struct prologue_value){-reader->at, PROLOGUE_FRAME};
  bool has_link = reader->popped[ARM_PC] == NOT_POPPED;
  ret->saved_lr = place(reader, has_link ? ARM_LR : ARM_PC);
  if (ret->saved_lr == PROLOGUE_NOT_SAVED)
    ret->registers[ARM_LR] = (struct prologue_value){ARM_LR, PROLOGUE_INITIAL};
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    ret->saved[i] = place(reader, instruction_arm.tracked[i]);
}

const char *exidx_code_read(struct span code, struct prologue_state *ret) {
  struct reader reader = {.code = code, .base = ARM_SP};
  for (unsigned i = 0; i <= ARM_PC; i++) reader.popped[i] = NOT_POPPED;
  while (reader.why == NULL && reader.code.len > 0) {
    uint8_t byte = next(&reader);
    if (byte == FINISH) break;
    take(&reader, byte);
  }
  if (reader.popped[ARM_SP] != NOT_POPPED) reader.why = "it pops the stack pointer";
  if (reader.why == NULL) fill(&reader, ret);
  return reader.why;
}
