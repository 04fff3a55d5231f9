/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions are programs for a small stack machine. They are evaluated symbolically: a value is a
   register plus a distance, or the word at that address plus a distance. So all forms that
   compilers and assemblers write (gcc when it aligns a stack, OpenSSL's handwritten procedures)
   give the same result. Any other value has an unknown base.

   One expression is recognized by its bytes: linkers write it for the procedure linkage table of
   x86-64, where the stack is 8 deeper from some byte of each 16 on. The byte depends on the kind of
   table. */
#include "cfi_cursor.h"
#include "cfi_state.h"

#include <elf.h>

/* Operations of the stack machine. */
enum {
  OP_DEREF = 0x06,
  OP_CONST1U = 0x08,
  OP_CONST1S,
  OP_CONST2U,
  OP_CONST2S,
  OP_CONST4U,
  OP_CONST4S,
  OP_CONST8U,
  OP_CONST8S,
  OP_CONSTU,
  OP_CONSTS,
  OP_AND = 0x1a,
  OP_MINUS = 0x1c,
  OP_PLUS = 0x22,
  OP_PLUS_UCONST = 0x23,
  OP_SHL = 0x24,
  OP_GE = 0x2a,
  OP_LIT0 = 0x30,
  OP_LIT31 = 0x4f,
  OP_BREG0 = 0x70,
  OP_BREG31 = 0x8f,
  OP_BREGX = 0x92,
  OP_NOP = 0x96,
};

enum { STACK_MAX = 8 };

struct machine {
  struct cfi_address stack[STACK_MAX];
  unsigned depth;
  const struct unwind_arch *arch;
  bool is_lost;
};

static struct cfi_address number_of(int64_t number) {
  return (struct cfi_address){.base = CFI_BASE_NUMBER, .offset = number};
}

static void push(struct machine *machine, struct cfi_address value) {
  if (machine->depth == STACK_MAX)
    machine->is_lost = true;
  else
    machine->stack[machine->depth++] = value;
}

static struct cfi_address pop(struct machine *machine) {
  if (machine->depth > 0) return machine->stack[--machine->depth];
  machine->is_lost = true;
  return (struct cfi_address){.base = CFI_BASE_OTHER};
}

/* VALUE + NUMBER. */
static struct cfi_address plus(struct cfi_address value, int64_t number) {
  int64_t *to = value.is_word ? &value.addend : &value.offset;
  *to = (int64_t)((uint64_t)*to + (uint64_t)number);
  return value;
}

static void add(struct machine *machine, bool is_minus) {
  struct cfi_address right = pop(machine), left = pop(machine);
  if (left.base == CFI_BASE_NUMBER && !is_minus) {
    struct cfi_address swapped = left;
    left = right;
    right = swapped;
  }
  if (right.base != CFI_BASE_NUMBER || right.is_word) machine->is_lost = true;
  int64_t number = is_minus ? (int64_t) - (uint64_t)right.offset : right.offset;
  push(machine, plus(left, number));
}

static void dereference(struct machine *machine) {
  struct cfi_address value = pop(machine);
  if (value.is_word) machine->is_lost = true;
  value.is_word = true;
  push(machine, value);
}

/* A constant operand that follows its operation. */
static bool read_constant(struct machine *machine, uint8_t operation, struct cfi_cursor *cursor) {
  switch (operation) {
  case OP_CONST1U:
    push(machine, number_of(cfi_byte(cursor)));
    return true;
  case OP_CONST1S:
    push(machine, number_of((int8_t)cfi_byte(cursor)));
    return true;
  case OP_CONST2U:
    push(machine, number_of((int64_t)cfi_number(cursor, 2)));
    return true;
  case OP_CONST2S:
    push(machine, number_of((int16_t)cfi_number(cursor, 2)));
    return true;
  case OP_CONST4U:
    push(machine, number_of((int64_t)cfi_number(cursor, 4)));
    return true;
  case OP_CONST4S:
    push(machine, number_of((int32_t)cfi_number(cursor, 4)));
    return true;
  case OP_CONSTU:
    push(machine, number_of((int64_t)cfi_uleb(cursor)));
    return true;
  case OP_CONSTS:
    push(machine, number_of(cfi_sleb(cursor)));
    return true;
  default:
    return false;
  }
}

static void push_register(struct machine *machine, uint64_t number, struct cfi_cursor *cursor) {
  int64_t offset = cfi_sleb(cursor);
  uint8_t base = cfi_base_of(machine->arch, number);
  if (base == CFI_BASE_OTHER) machine->is_lost = true;
  push(machine, (struct cfi_address){.base = base, .offset = offset});
}

static void step(struct machine *machine, struct cfi_cursor *cursor) {
  uint8_t operation = cfi_byte(cursor);
  if (operation >= OP_BREG0 && operation <= OP_BREG31)
    push_register(machine, operation - OP_BREG0, cursor);
  else if (operation == OP_BREGX)
    push_register(machine, cfi_uleb(cursor), cursor);
  else if (operation >= OP_LIT0 && operation <= OP_LIT31)
    push(machine, number_of(operation - OP_LIT0));
  else if (operation == OP_PLUS_UCONST)
    push(machine, plus(pop(machine), (int64_t)cfi_uleb(cursor)));
  else if (operation == OP_PLUS || operation == OP_MINUS)
    add(machine, operation == OP_MINUS);
  else if (operation == OP_DEREF)
    dereference(machine);
  else if (operation != OP_NOP && !read_constant(machine, operation, cursor))
    machine->is_lost = true;
}

/* %rsp + 8 + ((%rip & 15) >= BYTE) << 3 */
static bool is_plt(struct cfi_cursor cursor, const struct unwind_arch *arch,
                   struct cfi_address *ret) {
  static const uint8_t before[] = {OP_BREG0 + 7, 8, OP_BREG0 + 16, 0, OP_LIT0 + 15, OP_AND};
  static const uint8_t after[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
  struct span head = cfi_bytes(&cursor, sizeof before);
  unsigned byte = (unsigned)cfi_byte(&cursor) - OP_LIT0;
  struct span rest = span_of(cursor.at, cfi_left(&cursor));
  if (arch->machine != EM_X86_64 || byte > 15) return false;
  if (!span_is_equal(head, span_of(before, sizeof before))) return false;
  if (!span_is_equal(rest, span_of(after, sizeof after))) return false;
  *ret = (struct cfi_address){.base = CFI_BASE_SP, .offset = 8, .addend = byte, .is_plt = true};
  return true;
}

struct cfi_address cfi_expression_address(struct cfi_cursor expression,
                                          const struct unwind_arch *arch, uint8_t word_bytes,
                                          bool is_cfa_given) {
  struct machine machine = {.arch = arch};
  struct cfi_address value;
  bool is_known = is_plt(expression, arch, &value);
  if (!is_known) {
    if (is_cfa_given) push(&machine, (struct cfi_address){.base = CFI_BASE_CFA});
    while (cfi_left(&expression) > 0 && !machine.is_lost) step(&machine, &expression);
    value = pop(&machine);
    is_known = !machine.is_lost && !expression.is_over && value.base != CFI_BASE_NUMBER;
  }
  if (!is_known) value = (struct cfi_address){.base = CFI_BASE_OTHER};
  value.is_expression = true;
  if (word_bytes == 4) {
    value.offset = (int32_t)value.offset;
    value.addend = (int32_t)value.addend;
  }
  return value;
}
