/* SPDX-License-Identifier: Apache-2.0 */
#include "tables/exidx_code.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

extern const struct instruction_cpu instruction_arm;

#define CODE(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static struct unwind_rule rule_of(const uint8_t *code, size_t len) {
  struct prologue_state state;
  assert_null(exidx_code_read(span_of(code, len), &state));
  return prologue_state_rule(&instruction_arm, &state);
}

static const char *refused(const uint8_t *code, size_t len) {
  struct prologue_state state;
  return exidx_code_read(span_of(code, len), &state);
}

static void assert_rule(struct unwind_rule rule, enum unwind_cfa cfa, int offset, int ra) {
  assert_int_equal(rule.cfa, cfa);
  assert_int_equal(rule.offset, offset);
  assert_int_equal(rule.return_address, ra);
}

static void no_instruction_is_a_leaf(void **state) {
  (void)state;
  assert_rule(rule_of(CODE(0xb0, 0xb0, 0xb0)), UNWIND_CFA_SP, 0, UNWIND_SAME);
}

static void popped_registers_are_found_by_mask(void **state) {
  (void)state;
  /* r4, r7, r11, lr */
  struct unwind_rule rule = rule_of(CODE(0x84, 0x89, 0xb0));
  assert_rule(rule, UNWIND_CFA_SP, 16, -4);
  assert_int_equal(rule.saved[0], -8);  /* r11 */
  assert_int_equal(rule.saved[1], -12); /* r7 */
}

static void popped_registers_are_found_by_range(void **state) {
  (void)state;
  struct unwind_rule rule = rule_of(CODE(0xab, 0xb0)); /* r4-r7, lr */
  assert_rule(rule, UNWIND_CFA_SP, 20, -4);
  assert_int_equal(rule.saved[1], -8);
  assert_int_equal(rule.saved[0], UNWIND_SAME);
  assert_rule(rule_of(CODE(0xa0)), UNWIND_CFA_SP, 4, UNWIND_SAME);
}

static void the_stack_pointer_moves_both_ways(void **state) {
  (void)state;
  assert_rule(rule_of(CODE(0x3f, 0x41, 0x80, 0x08 + 0, 0xb0)), UNWIND_CFA_SP, 256 - 8 + 4,
              UNWIND_SAME);
}

static void a_large_frame_is_a_leb128(void **state) {
  (void)state;
  assert_rule(rule_of(CODE(0xb2, 0x81, 0x02, 0xa8)), UNWIND_CFA_SP, 0x204 + (0x101 << 2) + 8, -4);
}

static void a_frame_pointer_is_where_the_frame_is_found_from(void **state) {
  (void)state;
  struct unwind_rule rule = rule_of(CODE(0x97, 0x02, 0x84, 0x08));
  assert_rule(rule, UNWIND_CFA_TRACKED_2, 12 + 8, -4);
  assert_int_equal(rule.saved[1], -8);
  assert_rule(rule_of(CODE(0x9b, 0x40, 0x84, 0x80)), UNWIND_CFA_TRACKED, 4, -4);
}

static void a_register_that_is_not_followed_leaves_it_untold(void **state) {
  (void)state;
  assert_int_equal(rule_of(CODE(0x94, 0x84, 0x00)).cfa, UNWIND_CFA_UNTOLD);
}

static void of_floating_numbers_only_the_size_matters(void **state) {
  (void)state;
  assert_int_equal(rule_of(CODE(0xb3, 0x81)).offset, 2 * 8 + 4);
  assert_int_equal(rule_of(CODE(0xb9)).offset, 2 * 8 + 4);
  assert_int_equal(rule_of(CODE(0xc8, 0x02)).offset, 3 * 8);
  assert_int_equal(rule_of(CODE(0xc9, 0x83)).offset, 4 * 8);
  assert_int_equal(rule_of(CODE(0xd7)).offset, 8 * 8);
  assert_int_equal(rule_of(CODE(0xc6, 0x01)).offset, 2 * 8);
  assert_int_equal(rule_of(CODE(0xc2)).offset, 3 * 8);
  assert_int_equal(rule_of(CODE(0xc7, 0x05)).offset, 2 * 4);
  assert_int_equal(rule_of(CODE(0xb4)).offset, 4);
}

static void low_registers_are_popped_too(void **state) {
  (void)state;
  assert_rule(rule_of(CODE(0xb1, 0x0f, 0x84, 0x00)), UNWIND_CFA_SP, 20, -4);
}

static void a_popped_program_counter_is_the_return_address(void **state) {
  (void)state;
  assert_rule(rule_of(CODE(0x88, 0x01)), UNWIND_CFA_SP, 8, -4);
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  assert_non_null(refused(CODE(0x80, 0x00)));       /* refuse to unwind */
  assert_non_null(refused(CODE(0x9d)));             /* vsp = sp */
  assert_non_null(refused(CODE(0x9f)));             /* vsp = pc */
  assert_non_null(refused(CODE(0xb1, 0x00)));       /* no register */
  assert_non_null(refused(CODE(0xb1, 0x10)));       /* spare */
  assert_non_null(refused(CODE(0xb6)));             /* spare */
  assert_non_null(refused(CODE(0xca)));             /* spare */
  assert_non_null(refused(CODE(0xf0)));             /* spare */
  assert_non_null(refused(CODE(0x84)));             /* cut off */
  assert_non_null(refused(CODE(0xb2, 0x80, 0x80))); /* cut off */
  assert_non_null(refused(CODE(0xb2, 0xff, 0xff, 0xff, 0xff, 0x7f)));
  assert_non_null(refused(CODE(0x84, 0x00, 0x97))); /* another base, too late */
  assert_non_null(refused(CODE(0x82, 0x00)));       /* pops the stack pointer */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_instruction_is_a_leaf),
      cmocka_unit_test(popped_registers_are_found_by_mask),
      cmocka_unit_test(popped_registers_are_found_by_range),
      cmocka_unit_test(the_stack_pointer_moves_both_ways),
      cmocka_unit_test(a_large_frame_is_a_leb128),
      cmocka_unit_test(a_frame_pointer_is_where_the_frame_is_found_from),
      cmocka_unit_test(a_register_that_is_not_followed_leaves_it_untold),
      cmocka_unit_test(of_floating_numbers_only_the_size_matters),
      cmocka_unit_test(low_registers_are_popped_too),
      cmocka_unit_test(a_popped_program_counter_is_the_return_address),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
