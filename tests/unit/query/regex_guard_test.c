/* SPDX-License-Identifier: Apache-2.0 */
/* The expanded size of an expression is checked before the C library compiles it. */
#include "query/regex_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void atoms_and_loops_add_up_and_counts_multiply(void **state) {
  (void)state;
  static const struct {
    const char *regex;
    size_t size;
  } cases[] = {
      {"", 0},
      {"abc", 3},
      {"a*b?c", 5},
      {"a+b", 3},
      {"a{3}b", 4},
      {"a{2,5}", 5},
      {"a{2,}", 3},
      {"[a-z]{4}", 4},
      {"[]x]y", 2},
      {"[^]x]{2}", 2},
      {"[[:alpha:]x]{3}", 3},
      {"\\(x", 2},
      {"(ab)", 3},
      {"(ab){2}", 6},
      {"((ab){2}c){3}", 24},
      {"a+++", 8},
      {"(a+)+", 6},
      {"a|b|c", 3},
      {"x{0}", 2},
      {"edge-[0-9]{1,3}(a|b)*", 12},
      {"(a|b.*)c", 6},
      {"(", 1},
      {"[a", 1},
      {"\\", 1},
      {")", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t size = 99;
    const char *why = regex_guard(cases[i].regex, &size);
    if (why != NULL || size != cases[i].size)
      fail_msg("%s: %zu, not %zu %s", cases[i].regex, size, cases[i].size, why != NULL ? why : "");
  }
}

static void assert_refused(const char *regex, const char *wanted) {
  size_t size = 0;
  const char *why = regex_guard(regex, &size);
  if (why == NULL || strcmp(why, wanted) != 0)
    fail_msg("%s: %s", regex, why != NULL ? why : "passes");
}

static void what_grows_without_bound_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"((a{99}){99}){99}", "a{999999999999999999999}",
                                      "a++++++++++++++++++++++", "a{99}{99}",
                                      "((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    assert_refused(texts[i], "repeats itself too often");
}

static void a_loop_over_what_may_be_empty_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "(a*)*",  "a**",    "a*+", "(a|)*",     "(|a)+",   "(a?b?){2,}",        "*",
      "(^)*",   "(\\b)+", "()*", "(a{0,3})+", "(a|b?)*", "((a?b?c?d?)*){60}", "$*",
      "(a*|b)+"};
  static const char *const fine[] = {"(a*)?", "(a*){3}", "(a*b)*", "(a|b)*", "(a?b)+", "(a*b|c)*"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    assert_refused(texts[i], "repeats what may be empty");
  for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
    size_t size = 0;
    if (regex_guard(fine[i], &size) != NULL) fail_msg("%s is refused", fine[i]);
  }
}

static void a_back_reference_is_refused(void **state) {
  (void)state;
  assert_refused("(a)\\1", "has a back-reference");
  size_t size = 0;
  assert_null(regex_guard("(a)\\\\1", &size));
}

static void the_deepest_nesting_stays_in_bounds(void **state) {
  (void)state;
  char text[513];
  size_t size = 0;
  memset(text, '(', sizeof text);
  text[512] = '\0';
  assert_null(regex_guard(text, &size));
  assert_int_equal(size, 512);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(atoms_and_loops_add_up_and_counts_multiply),
      cmocka_unit_test(what_grows_without_bound_is_refused),
      cmocka_unit_test(a_loop_over_what_may_be_empty_is_refused),
      cmocka_unit_test(a_back_reference_is_refused),
      cmocka_unit_test(the_deepest_nesting_stays_in_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
