/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder, rung by rung. */
#include "linked/pair_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const enum pair_cpu cpus[] = {PAIR_CPU_JUMPS, PAIR_CPU_POPS, PAIR_CPU_STACK};
enum { CPUS = sizeof cpus / sizeof *cpus };

/* A pair whose link follows a call with an unknown target. */
static struct pair_facts facts_of(enum pair_cpu cpu, enum pair_place place, bool is_inside) {
  return (struct pair_facts){.cpu = cpu,
                             .place = place,
                             .call = PAIR_CALL_ANYWHERE,
                             .has_link = true,
                             .has_bounds = true,
                             .is_inside = is_inside};
}

static void a_row_resolves_recursion_which_sides_cannot(void **state) {
  (void)state;
  for (int i = 0; i < CPUS; i++) {
    struct pair_facts facts = facts_of(cpus[i], PAIR_PLACE_ROW, true);
    assert_int_equal(pair_rule_judge(&facts), PAIR_BY_ROW);
    assert_false(pair_rule_is_outside(&facts));
    facts.place = PAIR_PLACE_SCAN;
    assert_int_equal(pair_rule_judge(&facts), PAIR_BY_SCAN);
    facts.place = PAIR_PLACE_LOST;
    assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
  }
}

static void no_rung_holds_where_no_call_stands(void **state) {
  (void)state;
  for (int i = 0; i < CPUS; i++)
    for (enum pair_place place = PAIR_PLACE_UNKNOWN; place <= PAIR_PLACE_LOST; place++) {
      struct pair_facts facts = facts_of(cpus[i], place, false);
      facts.call = PAIR_CALL_NONE;
      assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
      facts.call = PAIR_CALL_ANYWHERE;
      facts.has_link = false;
      assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
    }
}

static void where_the_row_is_sure_a_call_elsewhere_is_a_tail_call(void **state) {
  (void)state;
  for (int i = 0; i < CPUS; i++) {
    struct pair_facts facts = facts_of(cpus[i], PAIR_PLACE_ROW, false);
    facts.call = PAIR_CALL_ELSEWHERE;
    assert_int_equal(pair_rule_judge(&facts), PAIR_BY_ROW);
  }
}

static enum pair_rung lost_outside(enum pair_cpu cpu, enum pair_call call) {
  struct pair_facts facts = facts_of(cpu, PAIR_PLACE_LOST, false);
  facts.call = call;
  return pair_rule_judge(&facts);
}

static void what_a_call_leaves_behind_is_inside_where_functions_return_by_the_register(void **s) {
  (void)s;
  assert_int_equal(lost_outside(PAIR_CPU_JUMPS, PAIR_CALL_ANYWHERE), PAIR_BY_SIDE);
  assert_int_equal(lost_outside(PAIR_CPU_JUMPS, PAIR_CALL_ELSEWHERE), PAIR_BY_SIDE);
  assert_int_equal(lost_outside(PAIR_CPU_JUMPS, PAIR_CALL_UNKNOWN), PAIR_BY_SIDE);
}

static void what_a_side_alone_would_take_for_a_caller_is_refuted_by_the_call(void **state) {
  (void)state;
  for (int i = 0; i < CPUS; i++)
    for (enum pair_place place = PAIR_PLACE_UNKNOWN; place <= PAIR_PLACE_LOST; place++) {
      struct pair_facts facts = facts_of(cpus[i], place, false);
      facts.call = PAIR_CALL_NONE;
      assert_true(pair_rule_is_refuted(&facts));
      facts.is_inside = true; /* then the side proves nothing */
      assert_false(pair_rule_is_refuted(&facts));
    }
  struct pair_facts facts = facts_of(PAIR_CPU_POPS, PAIR_PLACE_LOST, false);
  assert_false(pair_rule_is_refuted(&facts)); /* by a register: it may be */
  facts.call = PAIR_CALL_ELSEWHERE;
  assert_true(pair_rule_is_refuted(&facts));
  facts.place = PAIR_PLACE_ROW; /* a tail call */
  assert_false(pair_rule_is_refuted(&facts));
  facts.place = PAIR_PLACE_LOST;
  facts.cpu = PAIR_CPU_JUMPS; /* which the ladder takes for a caller, too */
  assert_false(pair_rule_is_refuted(&facts));
}

static void what_arm_leaves_behind_counts_only_where_the_call_leads_here(void **state) {
  (void)state;
  assert_int_equal(lost_outside(PAIR_CPU_POPS, PAIR_CALL_HERE), PAIR_BY_SIDE);
  assert_int_equal(lost_outside(PAIR_CPU_POPS, PAIR_CALL_ANYWHERE), PAIR_UNRESOLVED);
  assert_int_equal(lost_outside(PAIR_CPU_POPS, PAIR_CALL_ELSEWHERE), PAIR_UNRESOLVED);
  assert_int_equal(lost_outside(PAIR_CPU_POPS, PAIR_CALL_UNKNOWN), PAIR_UNRESOLVED);
}

static void a_word_on_the_stack_is_no_return_address_only_because_it_was_one(void **state) {
  (void)state;
  for (enum pair_call call = PAIR_CALL_UNKNOWN; call <= PAIR_CALL_ELSEWHERE; call++)
    assert_int_equal(lost_outside(PAIR_CPU_STACK, call), PAIR_UNRESOLVED);
}

static void what_could_not_be_followed_is_lost_and_told_apart(void **state) {
  struct pair_facts facts = facts_of(PAIR_CPU_POPS, PAIR_PLACE_TANGLED, false);
  (void)state;
  facts.call = PAIR_CALL_ANYWHERE;
  assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
  assert_true(pair_rule_is_tangled(&facts));
  facts.call = PAIR_CALL_HERE;
  assert_int_equal(pair_rule_judge(&facts), PAIR_BY_SIDE);
  assert_false(pair_rule_is_tangled(&facts));
  facts = facts_of(PAIR_CPU_POPS, PAIR_PLACE_LOST, true);
  assert_false(pair_rule_is_tangled(&facts));
}

static void of_code_that_nobody_looked_at_the_side_is_all_there_is(void **state) {
  (void)state;
  struct pair_facts facts = facts_of(PAIR_CPU_POPS, PAIR_PLACE_UNKNOWN, false);
  facts.call = PAIR_CALL_UNKNOWN;
  assert_int_equal(pair_rule_judge(&facts), PAIR_BY_SIDE);
  facts.cpu = PAIR_CPU_JUMPS;
  assert_int_equal(pair_rule_judge(&facts), PAIR_BY_SIDE);
  facts.cpu = PAIR_CPU_STACK;
  assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
  facts.cpu = PAIR_CPU_JUMPS;
  facts.has_bounds = false;
  assert_int_equal(pair_rule_judge(&facts), PAIR_UNRESOLVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_resolves_recursion_which_sides_cannot),
      cmocka_unit_test(no_rung_holds_where_no_call_stands),
      cmocka_unit_test(where_the_row_is_sure_a_call_elsewhere_is_a_tail_call),
      cmocka_unit_test(what_a_call_leaves_behind_is_inside_where_functions_return_by_the_register),
      cmocka_unit_test(what_a_side_alone_would_take_for_a_caller_is_refuted_by_the_call),
      cmocka_unit_test(what_arm_leaves_behind_counts_only_where_the_call_leads_here),
      cmocka_unit_test(a_word_on_the_stack_is_no_return_address_only_because_it_was_one),
      cmocka_unit_test(what_could_not_be_followed_is_lost_and_told_apart),
      cmocka_unit_test(of_code_that_nobody_looked_at_the_side_is_all_there_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
