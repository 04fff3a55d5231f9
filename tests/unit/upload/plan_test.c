/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the files of a module are sent, and which modules cannot be named. */
#include "upload/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct found found;
static struct plan plan;

/* A file of module ID with properties by LETTERS: c code, s symbols, d DWARF, l a list, - no
   build-id. Each has a different hash. */
static uint32_t add(uint8_t id, const char *letters) {
  struct found_file file = {.name = "name",
                            .source = "source",
                            .bytes = 100,
                            .id = {id},
                            .id_len = 20,
                            .has_build_id = strchr(letters, '-') == NULL,
                            .has_code = strchr(letters, 'c') != NULL,
                            .has_symbols = strchr(letters, 's') != NULL,
                            .has_dwarf = strchr(letters, 'd') != NULL,
                            .is_list = strchr(letters, 'l') != NULL};
  file.sha256[0] = (uint8_t)(found.count + 1);
  assert_int_equal(found_add(&found, &file), 0);
  return found.count - 1;
}

static void make(struct known_file *known, size_t count) {
  assert_int_equal(plan_make(&found, known, count, &plan), 0);
}

static struct known_file known(uint8_t id, uint32_t file, bool has_symbols) {
  return (struct known_file){
      .id = {id}, .id_len = 20, .sha256 = {(uint8_t)(file + 1)}, .has_symbols = has_symbols};
}

static int set_up(void **state) {
  (void)state;
  found_init(&found);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  found_fini(&found);
  plan_fini(&plan);
  return 0;
}

static void a_stripped_program_goes_with_its_debug_file(void **state) {
  (void)state;
  uint32_t stripped = add(1, "c"), debug = add(1, "sd");
  make(NULL, 0);
  assert_int_equal(plan.verdicts[stripped], VERDICT_SEND);
  assert_int_equal(plan.verdicts[debug], VERDICT_SEND);
  assert_int_equal(plan.send_bytes, 200);
  assert_int_equal(plan.nameless_count, 0);
}

static void a_program_that_was_never_stripped_goes_alone(void **state) {
  (void)state;
  uint32_t stripped = add(1, "c"), debug = add(1, "sd"), whole = add(1, "csd"),
           copy = add(1, "csd");
  make(NULL, 0);
  assert_int_equal(plan.verdicts[whole], VERDICT_SEND);
  assert_int_equal(plan.verdicts[stripped], VERDICT_COVERED);
  assert_int_equal(plan.verdicts[debug], VERDICT_COVERED);
  assert_int_equal(plan.verdicts[copy], VERDICT_COVERED);
}

static void better_symbols_come_first_and_a_list_last(void **state) {
  (void)state;
  uint32_t list = add(1, "sl"), symbols = add(1, "cs"), debug = add(1, "sd");
  make(NULL, 0);
  assert_int_equal(plan.verdicts[list], VERDICT_COVERED);
  assert_int_equal(plan.verdicts[debug], VERDICT_SEND);
  assert_int_equal(plan.verdicts[symbols], VERDICT_SEND); /* for its code */
}

static void a_list_alone_names(void **state) {
  (void)state;
  uint32_t code = add(1, "c"), list = add(1, "sl");
  make(NULL, 0);
  assert_int_equal(plan.verdicts[code], VERDICT_SEND);
  assert_int_equal(plan.verdicts[list], VERDICT_SEND);
  assert_int_equal(plan.nameless_count, 0);
}

static void what_the_collector_has_is_not_sent(void **state) {
  (void)state;
  uint32_t other = add(2, "csd"), stripped = add(1, "c"), debug = add(1, "sd");
  struct known_file there[] = {known(9, 77, true), known(1, debug, true),
                               known(1, stripped, false)};
  make(there, 3);
  assert_int_equal(plan.verdicts[stripped], VERDICT_KNOWN);
  assert_int_equal(plan.verdicts[debug], VERDICT_KNOWN);
  assert_int_equal(plan.verdicts[other], VERDICT_SEND);
  assert_int_equal(plan.counts[VERDICT_KNOWN], 2);
}

static void another_file_of_the_module_there_does_not_keep_ours_back(void **state) {
  (void)state;
  uint32_t debug = add(1, "sd");
  struct known_file there[] = {known(1, 50, true)};
  make(there, 1);
  assert_int_equal(plan.verdicts[debug], VERDICT_SEND);
}

static void code_without_symbols_anywhere_is_nameless(void **state) {
  (void)state;
  add(1, "csd");
  uint32_t second = add(3, "c"), copy = add(3, "c"), bare = add(2, "c-");
  make(NULL, 0);
  assert_int_equal(plan.nameless_count, 2);
  assert_int_equal(plan.nameless[0].file, second);
  assert_int_equal(plan.nameless[1].file, bare);
  assert_int_equal(plan.verdicts[copy], VERDICT_COVERED);
}

static void symbols_at_the_collector_name_too(void **state) {
  (void)state;
  add(1, "c");
  struct known_file stripped[] = {known(1, 0, false)}, named[] = {known(1, 60, true)};
  make(stripped, 1);
  assert_int_equal(plan.nameless_count, 1);
  plan_fini(&plan);
  make(named, 1);
  assert_int_equal(plan.nameless_count, 0);
}

static void the_collector_has_the_last_word_on_names(void **state) {
  (void)state;
  uint32_t whole = add(1, "csd"), other = add(2, "cs");
  struct known_file poor[] = {known(1, whole, false), known(2, other, true)};
  make(NULL, 0);
  assert_int_equal(plan.nameless_count, 0);
  assert_int_equal(plan_judge(&found, poor, 2, &plan), 0);
  assert_int_equal(plan.nameless_count, 1);
  assert_int_equal(plan.nameless[0].file, whole);
  assert_true(plan.nameless[0].has_symbols && plan.nameless[0].has_dwarf);
  assert_int_equal(plan.verdicts[whole], VERDICT_SEND);
  poor[0] = known(1, whole, true);
  poor[1] = known(2, other, true);
  assert_int_equal(plan_judge(&found, poor, 2, &plan), 0);
  assert_int_equal(plan.nameless_count, 0);
}

static void a_debug_file_that_belongs_to_nobody_stays(void **state) {
  (void)state;
  uint32_t debug = add(1, "sd-"), whole = add(2, "cs-");
  make(NULL, 0);
  assert_int_equal(plan.verdicts[debug], VERDICT_USELESS);
  assert_int_equal(plan.verdicts[whole], VERDICT_SEND); /* known by its hash */
  assert_int_equal(plan.nameless_count, 0);
}

static void nothing_found_is_a_plan_too(void **state) {
  (void)state;
  make(NULL, 0);
  assert_int_equal(plan.counts[VERDICT_SEND], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void modules_that_no_board_has_used_are_told_from_those_that_one_has(void **state) {
  (void)state;
  add(2, "cs");
  add(5, "c");
  struct known_file others[] = {known(9, 0, true), known(1, 1, true)};
  others[0].is_seen = others[1].is_seen = true;
  assert_false(plan_is_any_seen(&found, NULL, 0));
  assert_false(plan_is_any_seen(&found, others, 2));
  struct known_file ours[] = {known(9, 0, true), known(5, 1, false), known(2, 0, true)};
  assert_false(plan_is_any_seen(&found, ours, 3));
  for (size_t i = 0; i < 3; i++) ours[i].is_seen = ours[i].id[0] == 5;
  assert_true(plan_is_any_seen(&found, ours, 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_stripped_program_goes_with_its_debug_file),
      TEST(modules_that_no_board_has_used_are_told_from_those_that_one_has),
      TEST(a_program_that_was_never_stripped_goes_alone),
      TEST(better_symbols_come_first_and_a_list_last),
      TEST(a_list_alone_names),
      TEST(what_the_collector_has_is_not_sent),
      TEST(another_file_of_the_module_there_does_not_keep_ours_back),
      TEST(code_without_symbols_anywhere_is_nameless),
      TEST(symbols_at_the_collector_name_too),
      TEST(the_collector_has_the_last_word_on_names),
      TEST(a_debug_file_that_belongs_to_nobody_stays),
      TEST(nothing_found_is_a_plan_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
