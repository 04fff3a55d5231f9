/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction is a byte, some with an operand in the lower six bits. Most programs only advance
   the address, set the CFA's distance from its register, and record where a register was saved.

   Only registers that a rule can describe are tracked; operands of others are skipped. A rule is
   written when the program advances to another address, and at its end, if anything has changed
   since the last rule.

   Bounded: a program runs once and forwards, and the number of remembered states is limited. An
   invalid program (an unknown instruction, a truncated operand, a step back) makes the function
   rejected; an address beyond the function's end only ends it. */
#include "cfi_program.h"

#include "kept_register.h"

#include <elf.h>
#include <errno.h>

enum {
  CFI_ADVANCE = 0x40, /* the upper two bits, with an operand below them */
  CFI_OFFSET = 0x80,
  CFI_RESTORE = 0xc0,
  CFI_NOP = 0x00,
  CFI_SET_LOC,
  CFI_ADVANCE1,
  CFI_ADVANCE2,
  CFI_ADVANCE4,
  CFI_OFFSET_EXTENDED,
  CFI_RESTORE_EXTENDED,
  CFI_UNDEFINED,
  CFI_SAME_VALUE,
  CFI_REGISTER,
  CFI_REMEMBER,
  CFI_RESTORE_STATE,
  CFI_DEF_CFA,
  CFI_DEF_CFA_REGISTER,
  CFI_DEF_CFA_OFFSET,
  CFI_DEF_CFA_EXPRESSION,
  CFI_EXPRESSION,
  CFI_OFFSET_EXTENDED_SF,
  CFI_DEF_CFA_SF,
  CFI_DEF_CFA_OFFSET_SF,
  CFI_VAL_OFFSET,
  CFI_VAL_OFFSET_SF,
  CFI_VAL_EXPRESSION,
  CFI_ADVANCE8 = 0x1d,              /* MIPS */
  CFI_NEGATE_SIGNED_WITH_PC = 0x2c, /* AArch64: toggles whether the return address is signed */
  CFI_NEGATE_SIGNED = 0x2d,
  CFI_ARGS_SIZE = 0x2e,
  CFI_NEGATIVE_OFFSET_EXTENDED = 0x2f,
  OPERAND_BITS = 0xc0,
  /* Compilers nest two deep. */
  REMEMBERED_MAX = 16,
  /* Limit of a CIE's program, which may have to run for each of its functions; real ones have
     ten. */
  FIRST_PROGRAM_BYTES_MAX = 512,
};

struct program {
  struct cfi_cursor cursor;
  const struct cfi_run *run; /* its rows are NULL in a CIE */
  const struct cfi_cie *cie;
  struct cfi_state now, remembered[REMEMBERED_MAX];
  unsigned depth;
  uint64_t at, end;
  bool is_changed; /* since the last rule */
  int rc;
  const char *why;
};

static void refuse(struct program *program, const char *why) {
  program->rc = -EBADMSG;
  program->why = why;
}

/* ---- addresses ---- */

/* True if no callee from here to END writes the general register that RULE counts from. */
static bool is_kept(const struct program *program, const struct unwind_rule *rule, uint64_t end) {
  const struct cfi_section *section = program->run->section;
  unsigned number = 0;
  bool is_general = rule->cfa == UNWIND_CFA_GENERAL || rule->cfa == UNWIND_CFA_GENERAL_WORD;
  if (!is_general || section->code == NULL) return false;
  while (section->arch->general[number] != rule->reg) number++;
  return kept_register(section->code, program->at, end, number);
}

/* Writes the rule from here to END. A rule based on a general register is written for each piece
   separately: calls may write that register in one piece and not in the next. */
static void put_rule(struct program *program, uint64_t end) {
  struct unwind_rule rule;
  if (!program->is_changed && program->now.cfa.base < CFI_BASE_GENERAL) return;
  program->is_changed = false;
  enum table_untold untold = cfi_state_rule(&program->now, &rule);
  if (untold != TABLE_UNTOLDS) program->run->report->untold[untold]++;
  if (is_kept(program, &rule, end)) rule.flags |= UNWIND_REG_KEPT;
  program->rc = table_rows_put(program->run->rows, program->at, &rule);
}

static void go_to(struct program *program, uint64_t at) {
  if (program->run->rows == NULL) {
    refuse(program, "a CIE that has addresses");
    return;
  }
  if (at < program->at) {
    refuse(program, "an address that falls");
    return;
  }
  if (at == program->at) return;
  put_rule(program, at < program->end ? at : program->end);
  if (at < program->end)
    program->at = at;
  else
    program->cursor.at = program->cursor.end; /* the rest is not of this function */
}

static void advance(struct program *program, uint64_t steps) {
  uint64_t left = program->end - program->at, factor = program->cie->code_factor;
  bool is_beyond = factor != 0 && steps > left / factor;
  go_to(program, is_beyond ? program->end : program->at + steps * factor);
}

static void set_location(struct program *program) {
  const struct cfi_section *section = program->run->section;
  uint64_t offset = (uint64_t)(program->cursor.at - section->bytes.data), at;
  struct cfi_pointer how = {.encoding = program->cie->encoding,
                            .word_bytes = program->cie->word_bytes,
                            .place = section->address + offset};
  if (cfi_pointer_read(&program->cursor, &how, &at))
    go_to(program, at);
  else
    refuse(program, "an address of unknown form");
}

/* ---- registers ---- */

/* The state of register NUMBER, or NULL. */
static struct cfi_saved *column(struct program *program, uint64_t number) {
  const struct unwind_arch *arch = program->run->section->arch;
  struct cfi_saved *columns = program->now.columns;
  if (number == program->cie->return_column) return &columns[CFI_RETURN];
  if (number == arch->tracked[0]) return &columns[0];
  if (number == arch->tracked[1]) return &columns[1];
  return number == arch->sp ? &columns[CFI_SP] : NULL;
}

static void set(struct program *program, uint64_t number, struct cfi_saved saved) {
  struct cfi_saved *to = column(program, number);
  if (to == NULL) return;
  *to = saved;
  program->is_changed = true;
}

static void set_how(struct program *program, uint64_t number, enum cfi_how how) {
  set(program, number, (struct cfi_saved){.how = (uint8_t)how});
}

static void set_offset(struct program *program, uint64_t number, uint64_t offset) {
  uint64_t bytes = offset * (uint64_t)program->cie->data_factor;
  struct cfi_address at = {.base = CFI_BASE_CFA, .offset = (int64_t)bytes};
  set(program, number, (struct cfi_saved){.at = at, .how = CFI_SAVED});
}

static void restore(struct program *program, uint64_t number) {
  const struct cfi_saved *to = column(program, number);
  if (program->run->rows == NULL)
    refuse(program, "a CIE that restores what it has not set");
  else if (to != NULL)
    set(program, number, program->cie->initial.columns[to - program->now.columns]);
}

/* NUMBER's value is in register IN. */
static void set_register(struct program *program, uint64_t number, uint64_t in) {
  const struct unwind_arch *arch = program->run->section->arch;
  bool is_link = number == program->cie->return_column && arch->has_lr && in == arch->lr;
  bool is_same = is_link || number == in;
  uint8_t how = is_same ? CFI_SAME : in < arch->general_count ? CFI_IN_GENERAL : CFI_UNTOLD;
  struct cfi_address at = {.base = CFI_BASE_OTHER};
  if (how == CFI_IN_GENERAL) at.base = (uint8_t)(CFI_BASE_GENERAL + arch->general[in]);
  set(program, number, (struct cfi_saved){.at = at, .how = how});
}

/* The value itself is CFA + BYTES, as for the stack pointer, if described at all. */
static void set_value(struct program *program, uint64_t number, int64_t bytes) {
  bool is_cfa = number == program->run->section->arch->sp && bytes == 0;
  set_how(program, number, is_cfa ? CFI_SAME : CFI_UNTOLD);
}

static struct cfi_cursor take_block(struct program *program) {
  struct cfi_cursor *cursor = &program->cursor;
  return cfi_cursor_of(cfi_bytes(cursor, cfi_uleb(cursor)), cursor->is_big_endian);
}

static void set_expression(struct program *program, uint64_t number) {
  struct cfi_cursor block = take_block(program);
  if (column(program, number) == NULL) return;
  struct cfi_address at = cfi_expression_address(block, program->run->section->arch,
                                                 program->run->section->word_bytes, true);
  bool is_known = at.base != CFI_BASE_OTHER && !at.is_word && !at.is_plt;
  set(program, number, (struct cfi_saved){.at = at, .how = is_known ? CFI_SAVED : CFI_UNTOLD});
}

/* ---- the CFA ---- */

static void set_cfa(struct program *program, uint64_t number, int64_t offset) {
  uint8_t base = cfi_base_of(program->run->section->arch, number);
  program->now.cfa = (struct cfi_address){.base = base, .offset = offset};
  program->now.cfa_offset = offset;
  program->is_changed = true;
}

/* After an expression an offset is kept for the next register, as exception unwinders do:
   libgcrypt's procedures rely on it. */
static void set_cfa_offset(struct program *program, int64_t offset) {
  if (!program->now.cfa.is_expression) program->now.cfa.offset = offset;
  program->now.cfa_offset = offset;
  program->is_changed = true;
}

static void set_cfa_expression(struct program *program) {
  struct cfi_cursor block = take_block(program);
  program->now.cfa = cfi_expression_address(block, program->run->section->arch,
                                            program->run->section->word_bytes, false);
  program->is_changed = true;
}

static int64_t scaled(const struct program *program, int64_t number) {
  return (int64_t)((uint64_t)number * (uint64_t)program->cie->data_factor);
}

static bool step_cfa(struct program *program, uint8_t code) {
  struct cfi_cursor *cursor = &program->cursor;
  uint64_t number = 0;
  switch (code) {
  case CFI_DEF_CFA:
    number = cfi_uleb(cursor);
    set_cfa(program, number, (int64_t)cfi_uleb(cursor));
    return true;
  case CFI_DEF_CFA_SF:
    number = cfi_uleb(cursor);
    set_cfa(program, number, scaled(program, cfi_sleb(cursor)));
    return true;
  case CFI_DEF_CFA_REGISTER:
    set_cfa(program, cfi_uleb(cursor), program->now.cfa_offset);
    return true;
  case CFI_DEF_CFA_OFFSET:
    set_cfa_offset(program, (int64_t)cfi_uleb(cursor));
    return true;
  case CFI_DEF_CFA_OFFSET_SF:
    set_cfa_offset(program, scaled(program, cfi_sleb(cursor)));
    return true;
  case CFI_DEF_CFA_EXPRESSION:
    set_cfa_expression(program);
    return true;
  default:
    return false;
  }
}

/* ---- steps ---- */

static bool is_of_register(uint8_t code) {
  return (code >= CFI_OFFSET_EXTENDED && code <= CFI_REGISTER) || code == CFI_EXPRESSION ||
         code == CFI_OFFSET_EXTENDED_SF || (code >= CFI_VAL_OFFSET && code <= CFI_VAL_EXPRESSION) ||
         code == CFI_NEGATIVE_OFFSET_EXTENDED;
}

static bool step_register(struct program *program, uint8_t code) {
  struct cfi_cursor *cursor = &program->cursor;
  if (!is_of_register(code)) return false;
  uint64_t number = cfi_uleb(cursor);
  switch (code) {
  case CFI_OFFSET_EXTENDED:
    set_offset(program, number, cfi_uleb(cursor));
    return true;
  case CFI_OFFSET_EXTENDED_SF:
    set_offset(program, number, (uint64_t)cfi_sleb(cursor));
    return true;
  case CFI_NEGATIVE_OFFSET_EXTENDED:
    set_offset(program, number, -cfi_uleb(cursor));
    return true;
  case CFI_RESTORE_EXTENDED:
    restore(program, number);
    return true;
  case CFI_UNDEFINED:
    set_how(program, number, number == program->cie->return_column ? CFI_LOST : CFI_SAME);
    return true;
  case CFI_SAME_VALUE:
    set_how(program, number, CFI_SAME);
    return true;
  case CFI_REGISTER:
    set_register(program, number, cfi_uleb(cursor));
    return true;
  case CFI_EXPRESSION:
    set_expression(program, number);
    return true;
  case CFI_VAL_OFFSET:
    set_value(program, number, scaled(program, (int64_t)cfi_uleb(cursor)));
    return true;
  case CFI_VAL_OFFSET_SF:
    set_value(program, number, scaled(program, cfi_sleb(cursor)));
    return true;
  case CFI_VAL_EXPRESSION:
    take_block(program);
    set_how(program, number, CFI_UNTOLD);
    return true;
  default:
    return false;
  }
}

static void remember(struct program *program) {
  if (program->depth == REMEMBERED_MAX)
    refuse(program, "more remembered states than any compiler has");
  else
    program->remembered[program->depth++] = program->now;
}

static void restore_state(struct program *program) {
  if (program->depth == 0) {
    refuse(program, "a state restored that was not remembered");
    return;
  }
  program->now = program->remembered[--program->depth];
  program->is_changed = true;
}

static bool is_signing(const struct program *program, uint8_t code) {
  bool has_code = code == CFI_NEGATE_SIGNED || code == CFI_NEGATE_SIGNED_WITH_PC;
  return has_code && program->run->section->arch->machine == EM_AARCH64;
}

/* Instructions without an operand in their byte that concern neither a register nor the CFA. */
static void step_plain(struct program *program, uint8_t code) {
  struct cfi_cursor *cursor = &program->cursor;
  switch (code) {
  case CFI_NOP:
    return;
  case CFI_SET_LOC:
    set_location(program);
    return;
  case CFI_ADVANCE1:
    advance(program, cfi_byte(cursor));
    return;
  case CFI_ADVANCE2:
    advance(program, cfi_number(cursor, 2));
    return;
  case CFI_ADVANCE4:
    advance(program, cfi_number(cursor, 4));
    return;
  case CFI_ADVANCE8:
    advance(program, cfi_number(cursor, 8));
    return;
  case CFI_REMEMBER:
    remember(program);
    return;
  case CFI_RESTORE_STATE:
    restore_state(program);
    return;
  case CFI_ARGS_SIZE:
    cfi_uleb(cursor);
    return;
  default:
    if (!is_signing(program, code)) refuse(program, "an unknown instruction");
  }
}

static void step(struct program *program) {
  uint8_t code = cfi_byte(&program->cursor);
  uint8_t operand = code & (uint8_t)~OPERAND_BITS;
  switch (code & OPERAND_BITS) {
  case CFI_ADVANCE:
    advance(program, operand);
    return;
  case CFI_OFFSET:
    set_offset(program, operand, cfi_uleb(&program->cursor));
    return;
  case CFI_RESTORE:
    restore(program, operand);
    return;
  default:
    if (!step_cfa(program, code) && !step_register(program, code)) step_plain(program, code);
  }
}

static void run_all(struct program *program) {
  while (cfi_left(&program->cursor) > 0 && program->rc == 0) step(program);
  if (program->rc == 0 && program->cursor.is_over) refuse(program, "a cut instruction");
}

const char *cfi_program_begin(const struct cfi_section *section, struct cfi_cie *cie) {
  struct cfi_run nowhere = {.section = section};
  struct program program = {
      .cursor = cfi_cursor_of(cie->program, section->is_big_endian), .run = &nowhere, .cie = cie};
  if (cie->program.len > FIRST_PROGRAM_BYTES_MAX) return "a CIE with more than any compiler writes";
  program.now.has_link = section->arch->has_lr && cie->return_column == section->arch->lr;
  run_all(&program);
  cie->initial = program.now;
  return program.rc == 0 ? NULL : program.why;
}

int cfi_program_run(const struct cfi_run *run, const struct cfi_cie *cie,
                    const struct cfi_function *function, const char **ret_why) {
  struct program program;
  program.cursor = cfi_cursor_of(function->program, run->section->is_big_endian);
  program.run = run;
  program.cie = cie;
  program.now = cie->initial;
  program.depth = 0;
  program.at = function->start;
  program.end = function->start + function->bytes;
  program.is_changed = true;
  program.rc = 0;
  program.why = NULL;
  run_all(&program);
  if (program.rc == 0) put_rule(&program, program.end);
  *ret_why = program.why;
  return program.rc;
}
