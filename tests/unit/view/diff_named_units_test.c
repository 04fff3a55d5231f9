/* SPDX-License-Identifier: Apache-2.0 */
/* A unit defined by the user needs a name and a number of units on both sides; otherwise it is
   ignored. */
#include "view/diff_units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct view_units units;
static enum diff_units_part part;

static const char *parse(const char *name, const char *a, const char *b) {
  const char *const texts[] = {name, a, b};
  units = (struct view_units){"run", 1, 1};
  part = DIFF_UNITS_PARTS;
  return diff_units_parse(texts, &units, &part);
}

static void a_unit_has_a_name_and_two_numbers(void **state) {
  (void)state;
  assert_null(parse("request", "1000", "2.5e3"));
  assert_string_equal(units.name, "request");
  assert_true(units.a == 1000 && units.b == 2500);
  assert_null(parse("runs", "1e-6", "1e15"));
  assert_null(parse(NULL, NULL, NULL));
  assert_string_equal(units.name, "run");
}

static void what_is_wrong_is_told_of_its_part(void **state) {
  static const struct {
    const char *name, *a, *b;
    enum diff_units_part part;
    const char *why;
  } cases[] = {
      {"request", "0", "1", DIFF_UNITS_A, "is not above 0"},
      {"request", "1", "-3", DIFF_UNITS_B, "is not above 0"},
      {"request", "nan", "1", DIFF_UNITS_A, "is not a number"},
      {"request", "1", "inf", DIFF_UNITS_B, "is not a number"},
      {"request", "0x10", "1", DIFF_UNITS_A, "is not a number"},
      {"request", "1", "", DIFF_UNITS_B, "is not a number"},
      {"request", "1k", "1", DIFF_UNITS_A, "is not a number"},
      {"request", "1", "1e300", DIFF_UNITS_B, "is above 1e15"},
      {"request", "1e-300", "1", DIFF_UNITS_A, "is below 1e-6"},
      {"request", "1", "9.9e-7", DIFF_UNITS_B, "is below 1e-6"},
      {"run", "1", "1", DIFF_UNITS_NAME, "is counted without --unit: use another name"},
      {"board-hour", "1", "1", DIFF_UNITS_NAME, "is counted without --unit: use another name"},
      {"request", "1", "1e-999", DIFF_UNITS_B, "is not above 0"},
      {"request", "1", NULL, DIFF_UNITS_B, "is missing: how many units has that side?"},
      {"request", NULL, "1", DIFF_UNITS_A, "is missing: how many units has that side?"},
      {NULL, "1", "1", DIFF_UNITS_NAME, "is missing: what are the units called?"},
      {"", "1", "1", DIFF_UNITS_NAME, "is empty"},
      {"a\033b", "1", "1", DIFF_UNITS_NAME, "has other characters than A-Z a-z 0-9 _ . / -"},
      {"123456789 123456789 123456789 123", "1", "1", DIFF_UNITS_NAME, "is longer than 32 letters"},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *why = parse(cases[i].name, cases[i].a, cases[i].b);
    assert_non_null(why);
    assert_string_equal(why, cases[i].why);
    assert_int_equal(part, cases[i].part);
    assert_string_equal(units.name, "run");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_unit_has_a_name_and_two_numbers),
      cmocka_unit_test(what_is_wrong_is_told_of_its_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
