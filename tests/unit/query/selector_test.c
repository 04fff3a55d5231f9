/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors: their meaning, and the messages for invalid selectors. */
#include "query/selector.h"

#include "store/store_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct store_series series = {
    .label_count = 4,
    .labels = {{"board", "edge-7"}, {"service", "redis"}, {"site", "a\"b\\c"}, {"thread", "io\n1"}},
};

static bool matches(const char *text) {
  struct selector *selector = NULL;
  char why[256] = "";
  if (selector_parse(text, &selector, why, sizeof why) != 0) fail_msg("%s: %s", text, why);
  bool result = selector_matches(selector, &series);
  selector_free(selector);
  return result;
}

static void nothing_and_empty_braces_select_everything(void **state) {
  (void)state;
  assert_true(matches(""));
  assert_true(matches("  "));
  assert_true(matches("{}"));
  assert_true(matches(" { } "));
}

static void equality_and_its_opposite_compare_whole_values(void **state) {
  (void)state;
  assert_true(matches("{service=\"redis\"}"));
  assert_false(matches("{service=\"redi\"}"));
  assert_true(matches("{service!=\"redi\"}"));
  assert_false(matches("{service!='redis'}"));
  assert_true(matches("{site=\"a\\\"b\\\\c\"}"));
  assert_true(matches("{thread=\"io\\n1\"}"));
}

static void regular_expressions_are_anchored_at_both_ends(void **state) {
  (void)state;
  assert_true(matches("{board=~\"edge-.*\"}"));
  assert_true(matches("{board=~\"edge-[0-9]{1,3}\"}"));
  assert_false(matches("{board=~\"edge\"}"));
  assert_false(matches("{board=~\"dge-7\"}"));
  assert_true(matches("{board=~\"x|edge-7\"}"));
  assert_false(matches("{board=~\"edge|-7\"}"));
  assert_true(matches("{board!~\"edge\"}"));
  assert_false(matches("{board!~\"edge-.\"}"));
  assert_true(matches("{thread=~\"io.1\"}"));
}

static void an_absent_label_is_an_empty_string(void **state) {
  (void)state;
  assert_true(matches("{none=\"\"}"));
  assert_true(matches("{none=~\"\"}"));
  assert_true(matches("{none=~\".*\"}"));
  assert_false(matches("{none!=\"\"}"));
  assert_false(matches("{none=~\".+\"}"));
  assert_true(matches("{none!=\"x\"}"));
}

static void all_matchers_must_agree(void **state) {
  (void)state;
  assert_true(matches("{service=\"redis\",board=~\"edge-.*\"}"));
  assert_true(matches(" { service = \"redis\" , board =~ \"edge-.*\" , } "));
  assert_false(matches("{service=\"redis\",board=\"other\"}"));
  assert_false(matches("{service=\"redis\",service=\"x\"}"));
}

static void a_board_is_ruled_out_for_samples_by_its_name_only(void **state) {
  (void)state;
  struct selector *selector = NULL;
  char why[256];
  const char *text = "{service=\"x\",board=~\"edge-.*\",board!=\"edge-9\"}";
  assert_int_equal(selector_parse(text, &selector, why, sizeof why), 0);
  assert_true(selector_may_match_board(selector, "edge-7"));
  assert_false(selector_may_match_board(selector, "edge-9"));
  assert_false(selector_may_match_board(selector, "hub"));
  selector_free(selector);
}

static void a_board_is_matched_by_what_it_is_itself(void **state) {
  (void)state;
  static const struct store_board board = {.name = "edge-7",
                                           .arch = "armv7l",
                                           .kernel = "5.4.0",
                                           .label_count = 1,
                                           .labels = {{"site", "north"}}};
  static const struct {
    const char *text;
    bool matches;
  } cases[] = {
      {"{}", true},
      {"{board=\"edge-7\",arch=\"armv7l\",kernel=~\"5.*\",site=\"north\"}", true},
      {"{board!=\"edge-7\"}", false},
      {"{arch=\"x86_64\"}", false},
      {"{kernel!~\"5.*\"}", false},
      {"{site=\"south\"}", false},
      {"{line=\"\"}", true},
      {"{line=~\".+\"}", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct selector *selector = NULL;
    char why[256];
    assert_int_equal(selector_parse(cases[i].text, &selector, why, sizeof why), 0);
    if (selector_matches_board(selector, &board) != cases[i].matches) fail_msg("%s", cases[i].text);
    selector_free(selector);
  }
}

static void names_that_only_samples_carry_are_told(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"{board=\"a\",arch=\"b\",kernel=\"c\",site=\"d\"}", NULL},
      {"{site=\"a\",thread=\"io\"}", "thread"},
      {"{service=~\".*\"}", "service"},
      {"{exe!=\"\"}", "exe"},
      {"{build_id=\"\"}", "build_id"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct selector *selector = NULL;
    char why[256];
    assert_int_equal(selector_parse(cases[i][0], &selector, why, sizeof why), 0);
    const char *told = selector_sample_label(selector);
    assert_true((told == NULL) == (cases[i][1] == NULL));
    if (told != NULL) assert_string_equal(told, cases[i][1]);
    selector_free(selector);
  }
}

static void what_is_wrong_is_said_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *why;
    int error;
  } cases[] = {
      {"service=\"a\"", "character 1: a selector begins with {", -EINVAL},
      {"{", "character 2: a label name was expected", -EINVAL},
      {"{1a=\"x\"}", "character 2: a label name was expected", -EINVAL},
      {"{a}", "character 3: one of = != =~ !~ was expected", -EINVAL},
      {"{a~\"b\"}", "character 3: one of = != =~ !~ was expected", -EINVAL},
      {"{a==\"x\"}", "character 4: a quoted value was expected", -EINVAL},
      {"{a=x}", "character 4: a quoted value was expected", -EINVAL},
      {"{a=\"x}", "character 7: the value has no closing \"", -EINVAL},
      {"{a=\"\\x\"}", "character 6: an unknown escape", -EINVAL},
      {"{a=\"\\", "character 6: an unknown escape", -EINVAL},
      {"{a=\"x\" b=\"y\"}", "character 8: a comma or } was expected", -EINVAL},
      {"{a=\"x\",,}", "character 8: a label name was expected", -EINVAL},
      {"{} x", "character 4: something follows the }", -EINVAL},
      {"{a=~\"(\"}", "character 8: the regular expression before is wrong", -EINVAL},
      {"{a=~\"(x)\\\\1\"}", "has a back-reference", -EINVAL},
      {"{a=~\"((x{99}){99}){99}\"}", "repeats itself too often", -EINVAL},
      {"{a=~\"x{9999}\"}", "repeats itself too often", -EINVAL},
      {"{a=~\"((a?b?c?d?)*){60}\"}", "repeats what may be empty", -EINVAL},
      {"{a=~\"x++++++++++++++++++++++++++++++\"}", "repeats itself too often", -EINVAL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct selector *selector = NULL;
    char why[256] = "";
    assert_int_equal(selector_parse(cases[i].text, &selector, why, sizeof why), cases[i].error);
    if (strstr(why, cases[i].why) == NULL) fail_msg("%s gives: %s", cases[i].text, why);
    assert_null(selector);
  }
}

static void limits_are_named(void **state) {
  (void)state;
  static char text[SELECTOR_TEXT_MAX + 2];
  struct selector *selector = NULL;
  char why[256] = "";
  memset(text, ' ', sizeof text - 1);
  assert_int_equal(selector_parse(text, &selector, why, sizeof why), -EOVERFLOW);
  assert_non_null(strstr(why, "longer than 4096 bytes"));
  char *at = text;
  *at++ = '{';
  for (int i = 0; i <= SELECTOR_MATCHERS_MAX; i++, at += 6) memcpy(at, "a=\"b\",", 7);
  memcpy(at, "}", 2);
  assert_int_equal(selector_parse(text, &selector, why, sizeof why), -EOVERFLOW);
  assert_non_null(strstr(why, "more than 32 matchers"));
  memcpy(text, "{a=~\"", 5);
  memset(text + 5, 'x', SELECTOR_REGEX_MAX + 1);
  memcpy(text + 6 + SELECTOR_REGEX_MAX, "\"}", 3);
  assert_int_equal(selector_parse(text, &selector, why, sizeof why), -EOVERFLOW);
  assert_non_null(strstr(why, "longer than 512 bytes"));
}

static void a_small_buffer_for_the_reason_is_respected(void **state) {
  (void)state;
  struct selector *selector = NULL;
  char why[8];
  assert_int_equal(selector_parse("x", &selector, why, sizeof why), -EINVAL);
  assert_string_equal(why, "charact");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_and_empty_braces_select_everything),
      cmocka_unit_test(equality_and_its_opposite_compare_whole_values),
      cmocka_unit_test(regular_expressions_are_anchored_at_both_ends),
      cmocka_unit_test(an_absent_label_is_an_empty_string),
      cmocka_unit_test(all_matchers_must_agree),
      cmocka_unit_test(a_board_is_ruled_out_for_samples_by_its_name_only),
      cmocka_unit_test(a_board_is_matched_by_what_it_is_itself),
      cmocka_unit_test(names_that_only_samples_carry_are_told),
      cmocka_unit_test(what_is_wrong_is_said_with_its_place),
      cmocka_unit_test(limits_are_named),
      cmocka_unit_test(a_small_buffer_for_the_reason_is_respected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
