/* SPDX-License-Identifier: Apache-2.0 */
/* The locations of the caller's registers at one address of a function, and the equivalent rule.
   Call frame information builds them up step by step. */
#ifndef TABLES_CFI_STATE_H
#define TABLES_CFI_STATE_H

#include "cfi_cursor.h"
#include "table_report.h"

#include "unwind/unwind_arch.h"

/* The base of an address. */
enum cfi_base {
  CFI_BASE_OTHER = 0, /* none of these */
  CFI_BASE_NUMBER,    /* no base: a number */
  CFI_BASE_CFA,
  CFI_BASE_SP,
  CFI_BASE_TRACKED,
  CFI_BASE_TRACKED_2,
  CFI_BASE_GENERAL, /* + N: general register N of unwind_arch.h's array */
};

/* An address: BASE + OFFSET; or, if is_word, the word there + ADDEND. */
struct cfi_address {
  int64_t offset, addend;
  uint8_t base; /* enum cfi_base */
  bool is_word;
  bool is_plt; /* of the procedure linkage table: 8 more from byte ADDEND of 16 on */
  bool is_expression;
};

/* The location of a register of the caller. */
enum cfi_how {
  CFI_SAME = 0,   /* still in the register, also if nothing is specified */
  CFI_SAVED,      /* in memory at an address */
  CFI_LOST,       /* nowhere: there is no caller */
  CFI_IN_GENERAL, /* in the general register of AT's base */
  CFI_UNTOLD,     /* at a place that no rule can express */
};

struct cfi_saved {
  struct cfi_address at;
  uint8_t how; /* enum cfi_how */
};

/* The tracked registers come first, then these. */
enum { CFI_RETURN = UNWIND_TRACKED, CFI_SP, CFI_COLUMNS };

struct cfi_state {
  struct cfi_address cfa;
  int64_t cfa_offset; /* the last one specified */
  struct cfi_saved columns[CFI_COLUMNS];
  bool has_link; /* an unmoved return address is in the link register */
};

/* The base (enum cfi_base) for register NUMBER. */
uint8_t cfi_base_of(const struct unwind_arch *arch, uint64_t number);

/* The rule for STATE. Returns TABLE_UNTOLDS, or the reason why the rule is UNWIND_CFA_UNTOLD. */
enum table_untold cfi_state_rule(const struct cfi_state *state, struct unwind_rule *ret);

/* The address that EXPRESSION, to its end, computes. Its base is CFI_BASE_OTHER if no rule can hold
   it. IS_CFA_GIVEN: it begins with the CFA on its stack. */
struct cfi_address cfi_expression_address(struct cfi_cursor expression,
                                          const struct unwind_arch *arch, uint8_t word_bytes,
                                          bool is_cfa_given);

#endif
