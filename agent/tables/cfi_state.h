/* SPDX-License-Identifier: Apache-2.0 */
/* Where the caller's registers are, at one place of a function: what call frame information builds
   up step by step, and the rule that says the same. */
#ifndef TABLES_CFI_STATE_H
#define TABLES_CFI_STATE_H

#include "cfi_cursor.h"
#include "table_report.h"

#include "unwind/unwind_arch.h"

/* What an address is counted from. */
enum cfi_base {
  CFI_BASE_OTHER = 0, /* none of these */
  CFI_BASE_NUMBER,    /* nothing: it is a number */
  CFI_BASE_CFA,
  CFI_BASE_SP,
  CFI_BASE_TRACKED,
  CFI_BASE_TRACKED_2,
  CFI_BASE_GENERAL, /* + N: general register N of unwind_arch.h's row */
};

/* An address: BASE + OFFSET; or, is_word, the word that stands there + ADDEND. */
struct cfi_address {
  int64_t offset, addend;
  uint8_t base; /* enum cfi_base */
  bool is_word;
  bool is_plt; /* the procedure linkage table's: 8 more from byte ADDEND of 16 on */
  bool is_expression;
};

/* What is known of one register of the caller. */
enum cfi_how {
  CFI_SAME = 0,   /* it is in the register still; so is what nothing was said of */
  CFI_SAVED,      /* it is in memory at an address */
  CFI_LOST,       /* it is nowhere: there is no caller */
  CFI_IN_GENERAL, /* it is in the general register that AT's base names */
  CFI_UNTOLD,     /* it is somewhere that no rule can say */
};

struct cfi_saved {
  struct cfi_address at;
  uint8_t how; /* enum cfi_how */
};

/* The registers that matter: the followed ones, then these. */
enum { CFI_RETURN = UNWIND_TRACKED, CFI_SP, CFI_COLUMNS };

struct cfi_state {
  struct cfi_address cfa;
  int64_t cfa_offset; /* the last that was said */
  struct cfi_saved columns[CFI_COLUMNS];
  bool has_link; /* a return address that was not moved is in the link register */
};

/* The base that register NUMBER is, an enum cfi_base. */
uint8_t cfi_base_of(const struct unwind_arch *arch, uint64_t number);

/* The rule for STATE.  Returns TABLE_UNTOLDS, or why it is UNWIND_CFA_UNTOLD. */
enum table_untold cfi_state_rule(const struct cfi_state *state, struct unwind_rule *ret);

/* The address that EXPRESSION, to its end, computes; of another base when it does anything that no
   rule holds.  IS_CFA_GIVEN: it begins with the CFA on its stack. */
struct cfi_address cfi_expression_address(struct cfi_cursor expression,
                                          const struct unwind_arch *arch, uint8_t word_bytes,
                                          bool is_cfa_given);

#endif
