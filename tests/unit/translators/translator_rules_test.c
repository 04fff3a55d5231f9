/* SPDX-License-Identifier: Apache-2.0 */
#include "translators/translator_rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct translator_rules rules;
static char why[TRANSLATOR_RULES_WHY_BYTES];

static int parse(const char *text) {
  return translator_rules_parse(span_of_string(text), &rules, why);
}

static int choose(const char *arch, const char *path, const char *build_id, const char *quality) {
  return translator_rules_choose(&rules, &(struct translator_case){arch, path, build_id, quality});
}

static void the_first_rule_that_fits_counts(void **state) {
  (void)state;
  assert_int_equal(parse("# vendor's\n\nxtensa\t*  any at-end  xt-addr2line -e \"$DEBUG_FILE\" \r\n"
                         "* /opt/dsp/* symtab blank llvm-symbolizer\n* id:3f2a* none 2 names"),
                   0);
  assert_int_equal(rules.count, 3);
  assert_string_equal(rules.rules[0].command, "xt-addr2line -e \"$DEBUG_FILE\"");
  assert_int_equal(rules.rules[1].answers, TRANSLATOR_BLANK);
  assert_int_equal(rules.rules[2].answers, TRANSLATOR_LINES_2);
  assert_int_equal(choose("xtensa", "/opt/dsp/a", "3f2a", "dwarf"), 0);
  assert_int_equal(choose("armhf", "/opt/dsp/a", "3f2a", "symtab"), 1);
  assert_int_equal(choose("armhf", "/opt/dsp/a", "3f2a", "dwarf"), -1); /* good enough */
  assert_int_equal(choose("armhf", "/usr/bin/a", "3f2a00", "none"), 2);
  assert_int_equal(choose("armhf", "/usr/bin/a", "3f2a00", "bounds"), -1);
  assert_int_equal(choose("armhf", "/usr/bin/a", "4f2a00", "none"), -1);
  translator_rules_fini(&rules);
}

/* The order is that of debug_quality: a list is an operator's claim, exported symbols are the
 * module's own. */
static void exported_symbols_are_better_than_a_list(void **state) {
  (void)state;
  assert_int_equal(parse("* * map 1 names"), 0);
  assert_int_equal(choose("", "/a", "", "map"), 0);
  assert_int_equal(choose("", "/a", "", "dynsym"), -1);
  translator_rules_fini(&rules);
  assert_int_equal(parse("* * dynsym 1 names"), 0);
  assert_int_equal(choose("", "/a", "", "map"), 0);
  translator_rules_fini(&rules);
}

static void a_star_is_any_text(void **state) {
  static const struct {
    const char *pattern, *path;
    bool is_match;
  } cases[] = {{"/a*", "/a", true},        {"/a*", "/b", false},     {"*.so", "/x.so.so", true},
               {"*.so", "/x.so.1", false}, {"a*b*c", "abxbc", true}, {"a*b*c", "acb", false},
               {"**", "", true},           {"a", "", false}};
  char text[128];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text, "* %s any 1 c", cases[i].pattern);
    assert_int_equal(parse(text), 0);
    if ((choose("", cases[i].path, "", "none") == 0) != cases[i].is_match)
      fail_msg("%s and %s", cases[i].pattern, cases[i].path);
    translator_rules_fini(&rules);
  }
}

/* Those that a rule may have, from the least. */
static void a_wrong_quality_is_told_with_the_right_ones(void **state) {
  (void)state;
  assert_int_equal(parse("* * better 1 c"), -EINVAL);
  assert_string_equal(
      why, "line 1: its quality is none of none, bad, bounds, map, dynsym, symtab, dwarf, any");
}

static void what_is_no_rule_is_told_with_its_line(void **state) {
  static const char *const bad[] = {"\n* * any at-end", "\n* * better 1 c", "\n* * any 3 c", "\n*",
                                    "\n* * any 1    \r"};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(parse(bad[i]), -EINVAL);
    assert_true(strncmp(why, "line 2: ", 8) == 0);
  }
  assert_int_equal(translator_rules_parse(span_of("* * any 1 a\0b", 13), &rules, why), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_rule_that_fits_counts),
      cmocka_unit_test(exported_symbols_are_better_than_a_list),
      cmocka_unit_test(a_star_is_any_text),
      cmocka_unit_test(a_wrong_quality_is_told_with_the_right_ones),
      cmocka_unit_test(what_is_no_rule_is_told_with_its_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
