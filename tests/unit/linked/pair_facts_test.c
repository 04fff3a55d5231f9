/* SPDX-License-Identifier: Apache-2.0 */
/* The files of both ends of a pair determine its facts. */
#include "linked/pair_facts.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Files with content that a test sets. */
struct files {
  const char *names[2]; /* NULL: no function */
  uint64_t start;       /* of the function at the PC, of 0x40 bytes */
  enum lr_place place;
  uint64_t calls; /* the function that is called before the link; 0: unknown */
};

static bool find_function(void *context, enum pair_end end, struct pair_function *ret) {
  const struct files *files = context;
  if (files->names[end] == NULL) return false;
  *ret = (struct pair_function){files->names[end], end == PAIR_PC ? files->start : 0x9000, 0x40};
  return true;
}

static enum lr_place place(void *context) {
  return ((struct files *)context)->place;
}

static enum lr_call call(void *context, uint64_t function) {
  const struct files *files = context;
  if (files->calls == 0) return LR_CALL_ANYWHERE;
  return files->calls == function ? LR_CALL_HERE : LR_CALL_ELSEWHERE;
}

/* The facts of a pair in one module whose link is LINK. */
static struct pair_facts facts_of(struct files *files, uint64_t link) {
  const struct pair_files asked = {files, find_function, place, call};
  const struct pair_ends ends = {
      .link = link, .has_link = true, .is_same_module = true, .machine = EM_ARM};
  return pair_facts_find(&ends, &asked);
}

static void inside_is_within_the_bounds_of_the_function(void **state) {
  struct files files = {.names = {"work", "main"}, .start = 0x100};
  (void)state;
  assert_true(facts_of(&files, 0x100).is_inside);
  assert_true(facts_of(&files, 0x13f).is_inside);
  assert_false(facts_of(&files, 0x140).is_inside);
  assert_false(facts_of(&files, 0xff).is_inside);
  assert_true(facts_of(&files, 0x100).has_bounds);
}

static void inside_is_in_another_part_of_the_function_too(void **state) {
  struct files files = {.names = {"work.cold", "work"}, .start = 0x100};
  (void)state;
  assert_true(facts_of(&files, 0x900).is_inside);
  files.names[PAIR_LINK] = "worker";
  assert_false(facts_of(&files, 0x900).is_inside);
  files.names[PAIR_LINK] = NULL;
  assert_false(facts_of(&files, 0x900).is_inside);
}

static void another_module_has_the_same_addresses_and_is_outside(void **state) {
  struct files files = {.names = {"work", "work"}, .start = 0x100};
  const struct pair_files asked = {&files, find_function, place, call};
  struct pair_ends ends = {.link = 0x110, .has_link = true};
  (void)state;
  assert_false(pair_facts_find(&ends, &asked).is_inside);
  ends.is_same_module = true;
  assert_true(pair_facts_find(&ends, &asked).is_inside);
  ends.has_link = false;
  assert_false(pair_facts_find(&ends, &asked).is_inside);
  assert_false(pair_facts_find(&ends, &asked).has_link);
}

static void without_a_function_there_are_no_bounds(void **state) {
  struct files files = {.names = {NULL, "main"}, .place = LR_LOST};
  (void)state;
  assert_false(facts_of(&files, 0x100).has_bounds);
  assert_false(facts_of(&files, 0x100).is_inside);
  assert_int_equal(facts_of(&files, 0x100).place, PAIR_PLACE_LOST);
}

static void a_call_is_held_against_the_start_of_the_function(void **state) {
  struct files files = {.names = {"work", "main"}, .start = 0x100, .calls = 0x100};
  (void)state;
  assert_int_equal(facts_of(&files, 0x900).call, PAIR_CALL_HERE);
  files.calls = 0x200;
  assert_int_equal(facts_of(&files, 0x900).call, PAIR_CALL_ELSEWHERE);
}

static void nobody_calls_the_start_of_a_cold_part(void **state) {
  struct files files = {
      .names = {"work.cold", "main"}, .start = 0x100, .place = LR_LOST, .calls = 0x200};
  (void)state;
  struct pair_facts facts = facts_of(&files, 0x900);
  assert_int_equal(facts.call, PAIR_CALL_ANYWHERE);
  assert_false(pair_rule_is_refuted(&facts));
  files.names[PAIR_PC] = "work";
  facts = facts_of(&files, 0x900);
  assert_true(pair_rule_is_refuted(&facts));
}

static void where_no_file_tells_the_cpu_the_board_does(void **state) {
  struct files files = {.names = {"work", "main"}, .start = 0x100};
  const struct pair_files asked = {&files, find_function, place, call};
  struct pair_ends ends = {.link = 0x900, .has_link = true, .arch = "armv7l"};
  (void)state;
  assert_int_equal(pair_facts_find(&ends, &asked).cpu, PAIR_CPU_POPS);
  ends.machine = EM_AARCH64;
  assert_int_equal(pair_facts_find(&ends, &asked).cpu, PAIR_CPU_JUMPS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inside_is_within_the_bounds_of_the_function),
      cmocka_unit_test(inside_is_in_another_part_of_the_function_too),
      cmocka_unit_test(another_module_has_the_same_addresses_and_is_outside),
      cmocka_unit_test(without_a_function_there_are_no_bounds),
      cmocka_unit_test(a_call_is_held_against_the_start_of_the_function),
      cmocka_unit_test(nobody_calls_the_start_of_a_cold_part),
      cmocka_unit_test(where_no_file_tells_the_cpu_the_board_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
