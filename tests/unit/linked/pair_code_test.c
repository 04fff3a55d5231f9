/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a pair, from tables, boards and names. */
#include "linked/pair_code.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_file_knows_its_cpu_and_without_one_the_board_does(void **state) {
  (void)state;
  assert_int_equal(pair_code_cpu(EM_ARM, "aarch64"), PAIR_CPU_POPS);
  assert_int_equal(pair_code_cpu(EM_X86_64, NULL), PAIR_CPU_STACK);
  assert_int_equal(pair_code_cpu(EM_MIPS, "mips"), PAIR_CPU_JUMPS);
  assert_int_equal(pair_code_cpu(0, "armv7l"), PAIR_CPU_POPS);
  assert_int_equal(pair_code_cpu(0, "aarch64"), PAIR_CPU_JUMPS);
  assert_int_equal(pair_code_cpu(0, "arm64"), PAIR_CPU_JUMPS);
  assert_int_equal(pair_code_cpu(0, "x86_64"), PAIR_CPU_STACK);
  assert_int_equal(pair_code_cpu(0, "i686"), PAIR_CPU_STACK);
  assert_int_equal(pair_code_cpu(EM_386, NULL), PAIR_CPU_STACK);
}

static void of_an_unknown_cpu_no_side_is_a_caller(void **state) {
  (void)state;
  const struct pair_facts facts = {
      .cpu = pair_code_cpu(0, NULL), .has_link = true, .has_bounds = true};
  assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
}

static void another_modules_function_cannot_be_called_straight(void **state) {
  (void)state;
  assert_int_equal(pair_code_call(LR_CALL_HERE, true), PAIR_CALL_HERE);
  assert_int_equal(pair_code_call(LR_CALL_HERE, false), PAIR_CALL_ELSEWHERE);
  assert_int_equal(pair_code_call(LR_CALL_ANYWHERE, false), PAIR_CALL_ANYWHERE);
  assert_int_equal(pair_code_call(LR_CALL_NONE, true), PAIR_CALL_NONE);
}

static void a_cold_part_is_of_its_function(void **state) {
  (void)state;
  assert_true(pair_code_is_one_function("parse", "parse.cold"));
  assert_true(pair_code_is_one_function("parse.cold.3", "parse"));
  assert_false(pair_code_is_one_function("parse", "parse_all"));
  assert_false(pair_code_is_one_function("", ""));
  assert_false(pair_code_is_one_function(".cold", ".cold"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_knows_its_cpu_and_without_one_the_board_does),
      cmocka_unit_test(of_an_unknown_cpu_no_side_is_a_caller),
      cmocka_unit_test(another_modules_function_cannot_be_called_straight),
      cmocka_unit_test(a_cold_part_is_of_its_function),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
