/* SPDX-License-Identifier: Apache-2.0 */
/* The status lines of programs that got no ring. */
#include "daemon/refusals.h"

#include "common/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_printed(const struct refusals *refusals, const char *wanted) {
  struct buf out = {0};
  buf_append_byte(&out, '{');
  refusals_print(refusals, &out);
  buf_append_byte(&out, '\0');
  assert_false(out.failed);
  assert_string_equal((const char *)out.data, wanted);
  buf_fini(&out);
}

static void where_nobody_was_refused_there_is_no_reason(void **state) {
  (void)state;
  assert_printed(&(struct refusals){0}, "{\"refused_programs\":{}");
}

static void each_reason_is_counted_apart(void **state) {
  struct refusals refusals = {0};
  (void)state;
  refusals_note(&refusals, "no room");
  refusals_note(&refusals, "no room at all");
  refusals_note(&refusals, "no room");
  assert_printed(&refusals, "{\"refused_programs\":{\"no room\":2,\"no room at all\":1}");
}

static void more_reasons_than_rows_are_counted_together(void **state) {
  struct refusals refusals = {0};
  char why[16];
  (void)state;
  for (unsigned i = 0; i < REFUSAL_REASONS_MAX + 3; i++) {
    snprintf(why, sizeof why, "reason %u", i);
    refusals_note(&refusals, why);
  }
  const struct refusal *last = &refusals.rows[REFUSAL_REASONS_MAX - 1];
  assert_string_equal(last->why, "other reasons");
  assert_int_equal(last->count, 4);
  refusals_note(&refusals, "reason 0");
  assert_int_equal(refusals.rows[0].count, 2);
}

static void a_reason_that_is_too_long_is_cut_and_still_known(void **state) {
  struct refusals refusals = {0};
  char why[2 * REFUSAL_WHY_BYTES];
  (void)state;
  memset(why, 'x', sizeof why - 1);
  why[sizeof why - 1] = '\0';
  refusals_note(&refusals, why);
  refusals_note(&refusals, why);
  assert_int_equal(refusals.rows[0].count, 2);
  assert_int_equal(strlen(refusals.rows[0].why), REFUSAL_WHY_BYTES - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(where_nobody_was_refused_there_is_no_reason),
      cmocka_unit_test(each_reason_is_counted_apart),
      cmocka_unit_test(more_reasons_than_rows_are_counted_together),
      cmocka_unit_test(a_reason_that_is_too_long_is_cut_and_still_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
