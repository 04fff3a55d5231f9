/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a DWARF state to a rule. A rule's offsets of all saved registers are from the CFA, or
   all from the first tracked register. In a frame so large that its bottom is too far from its CFA,
   all offsets are from the CFA's own base. Compilers may mix these: gcc uses the frame pointer in a
   function that aligns its stack, and the CFA elsewhere. If both have a constant distance (that
   register is the CFA's base), one is converted to the other.

   A state that does not fit is marked as such, with the reason, and never approximated: a walk that
   stops is better than one that continues wrongly. */
#include "cfi_state.h"

uint8_t cfi_base_of(const struct unwind_arch *arch, uint64_t number) {
  if (number == arch->sp) return CFI_BASE_SP;
  if (number == arch->tracked[0]) return CFI_BASE_TRACKED;
  if (number == arch->tracked[1]) return CFI_BASE_TRACKED_2;
  if (number >= arch->general_count) return CFI_BASE_OTHER;
  return (uint8_t)(CFI_BASE_GENERAL + arch->general[number]);
}

static enum table_untold fit_cfa(const struct cfi_address *cfa, struct unwind_rule *rule) {
  static const uint8_t plain[] = {[CFI_BASE_SP] = UNWIND_CFA_SP,
                                  [CFI_BASE_TRACKED] = UNWIND_CFA_TRACKED,
                                  [CFI_BASE_TRACKED_2] = UNWIND_CFA_TRACKED_2,
                                  [CFI_BASE_GENERAL] = UNWIND_CFA_GENERAL};
  static const uint8_t word[] = {[CFI_BASE_SP] = UNWIND_CFA_SP_WORD,
                                 [CFI_BASE_TRACKED] = UNWIND_CFA_TRACKED_WORD,
                                 [CFI_BASE_TRACKED_2] = UNWIND_CFA_TRACKED_2_WORD,
                                 [CFI_BASE_GENERAL] = UNWIND_CFA_GENERAL_WORD};
  bool is_general = cfa->base >= CFI_BASE_GENERAL;
  uint8_t base = is_general ? CFI_BASE_GENERAL : cfa->base;
  rule->cfa = cfa->is_plt ? UNWIND_CFA_PLT : cfa->is_word ? word[base] : plain[base];
  if (is_general) rule->reg = (uint8_t)(cfa->base - CFI_BASE_GENERAL);
  if (rule->cfa == UNWIND_CFA_NONE)
    return cfa->is_expression ? TABLE_UNTOLD_CFA_EXPRESSION : TABLE_UNTOLD_CFA_REGISTER;
  rule->offset = (int32_t)cfa->offset;
  rule->addend = (int16_t)cfa->addend;
  return rule->offset == cfa->offset && rule->addend == cfa->addend ? TABLE_UNTOLDS
                                                                    : TABLE_UNTOLD_FAR;
}

/* ADDRESS relative to BASE, given the CFA. Returns false if the distance is not constant. */
static bool count_from(const struct cfi_address *address, uint8_t base,
                       const struct cfi_address *cfa, int64_t *ret) {
  bool is_fixed = !cfa->is_word && !cfa->is_plt;
  if (address->is_word) return false;
  *ret = address->offset;
  if (address->base == base) return true;
  if (!is_fixed) return false;
  if (base == CFI_BASE_CFA && address->base == cfa->base) {
    *ret = (int64_t)((uint64_t)address->offset - (uint64_t)cfa->offset);
    return true;
  }
  if (address->base != CFI_BASE_CFA || base != cfa->base) return false;
  *ret = (int64_t)((uint64_t)address->offset + (uint64_t)cfa->offset);
  return true;
}

static enum table_untold fit(int64_t offset, int16_t *ret) {
  *ret = (int16_t)offset;
  return *ret == offset && offset >= UNWIND_OFFSET_MIN ? TABLE_UNTOLDS : TABLE_UNTOLD_FAR;
}

static int16_t in_general(const struct cfi_saved *saved) {
  return (int16_t)(UNWIND_IN_GENERAL + saved->at.base - CFI_BASE_GENERAL);
}

static enum table_untold fit_return(const struct cfi_state *state, uint8_t base,
                                    struct unwind_rule *rule) {
  const struct cfi_saved *saved = &state->columns[CFI_RETURN];
  int64_t offset;
  if (saved->how == CFI_SAME && state->has_link) {
    rule->return_address = UNWIND_SAME;
    return TABLE_UNTOLDS;
  }
  if (saved->how == CFI_IN_GENERAL) {
    rule->return_address = in_general(saved);
    return TABLE_UNTOLDS;
  }
  if (saved->how != CFI_SAVED || !count_from(&saved->at, base, &state->cfa, &offset))
    return TABLE_UNTOLD_RETURN_ADDRESS;
  return fit(offset, &rule->return_address);
}

/* All tracked registers relative to BASE. */
static enum table_untold fit_saved(const struct cfi_state *state, uint8_t base,
                                   struct unwind_rule *rule) {
  enum table_untold rc = TABLE_UNTOLDS;
  for (unsigned i = 0; i < UNWIND_TRACKED && rc == TABLE_UNTOLDS; i++) {
    const struct cfi_saved *saved = &state->columns[i];
    int64_t offset;
    rule->saved[i] = UNWIND_SAME;
    if (saved->how == CFI_UNTOLD) return TABLE_UNTOLD_SAVED;
    if (saved->how == CFI_IN_GENERAL) rule->saved[i] = in_general(saved);
    if (saved->how != CFI_SAVED) continue;
    if (!count_from(&saved->at, base, &state->cfa, &offset)) return TABLE_UNTOLD_SAVED;
    rc = fit(offset, &rule->saved[i]);
  }
  return rc;
}

/* The bases of a rule's offsets: for the return address, and for the tracked registers. */
struct manner {
  uint8_t of_return, of_saved; /* enum cfi_base */
  uint8_t flags;
};

static enum table_untold fit_places(const struct cfi_state *state, struct manner manner,
                                    struct unwind_rule *rule) {
  rule->flags = manner.flags;
  enum table_untold rc = fit_return(state, manner.of_return, rule);
  return rc == TABLE_UNTOLDS ? fit_saved(state, manner.of_saved, rule) : rc;
}

/* The first manner that fits; if none does, the result of the first. */
static enum table_untold fit_any(const struct cfi_state *state, struct unwind_rule *rule) {
  const struct cfi_address *cfa = &state->cfa;
  const struct manner manners[] = {{CFI_BASE_CFA, CFI_BASE_CFA, 0},
                                   {CFI_BASE_CFA, CFI_BASE_TRACKED, UNWIND_AT_TRACKED},
                                   {cfa->base, cfa->base, UNWIND_AT_BASE}};
  bool is_fixed = !cfa->is_word && !cfa->is_plt;
  enum table_untold first = fit_places(state, manners[0], rule);
  if (first == TABLE_UNTOLDS || fit_places(state, manners[1], rule) == TABLE_UNTOLDS)
    return TABLE_UNTOLDS;
  if (is_fixed && fit_places(state, manners[2], rule) == TABLE_UNTOLDS) return TABLE_UNTOLDS;
  return first;
}

enum table_untold cfi_state_rule(const struct cfi_state *state, struct unwind_rule *ret) {
  struct unwind_rule rule = {.cfa = UNWIND_CFA_NONE};
  if (state->columns[CFI_RETURN].how == CFI_LOST) {
    *ret = (struct unwind_rule){.cfa = UNWIND_CFA_END};
    return TABLE_UNTOLDS;
  }
  enum table_untold rc = fit_cfa(&state->cfa, &rule);
  if (rc == TABLE_UNTOLDS && state->columns[CFI_SP].how > CFI_SAME) rc = TABLE_UNTOLD_SAVED;
  if (rc == TABLE_UNTOLDS) rc = fit_any(state, &rule);
  *ret = rc == TABLE_UNTOLDS ? rule : (struct unwind_rule){.cfa = UNWIND_CFA_UNTOLD};
  return rc;
}
