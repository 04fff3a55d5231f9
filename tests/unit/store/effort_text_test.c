/* SPDX-License-Identifier: Apache-2.0 */
#include "store/effort_text.h"

#include "common/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_was_written_is_read(void **state) {
  (void)state;
  const struct effort effort = {.asked_mhz = UINT32_MAX,
                                .rate_reason = "budget",
                                .handler_p50_ns = 1,
                                .handler_p99_ns = 2,
                                .sample_ns = 3,
                                .daemon_cpu_ppm = 4,
                                .added_cpu_ppm = 5,
                                .bytes_day = INT64_MAX,
                                .budget_cpu_ppm = 6,
                                .budget_bytes_day = 7,
                                .budget_state = "cpu",
                                .stacks_ns = {1, INT64_MAX - 10, 2, 3, 4}};
  struct effort got;
  struct buf text = {0};
  effort_text_encode(&effort, &text);
  char *copy = strdup(buf_text(&text));
  effort_text_decode(copy, &got);
  assert_int_equal(got.asked_mhz, UINT32_MAX);
  assert_string_equal(got.rate_reason, "budget");
  assert_int_equal(got.handler_p50_ns, 1);
  assert_int_equal(got.handler_p99_ns, 2);
  assert_int_equal(got.sample_ns, 3);
  assert_int_equal(got.daemon_cpu_ppm, 4);
  assert_int_equal(got.added_cpu_ppm, 5);
  assert_true(got.bytes_day == INT64_MAX);
  assert_int_equal(got.budget_cpu_ppm, 6);
  assert_int_equal(got.budget_bytes_day, 7);
  assert_string_equal(got.budget_state, "cpu");
  assert_memory_equal(got.stacks_ns, effort.stacks_ns, sizeof got.stacks_ns);
  free(copy);
  buf_fini(&text);
}

static void what_is_unknown_missing_or_broken_harms_nothing(void **state) {
  (void)state;
  struct effort got;
  char text[] = "from_the_future=1\nno equals\n=\nasked_mhz=12\n\nsample_ns=abc";
  effort_text_decode(text, &got);
  assert_int_equal(got.asked_mhz, 12);
  assert_int_equal(got.sample_ns, 0);
  assert_string_equal(got.rate_reason, "");
  for (unsigned i = 0; i < STACK_END_COUNT; i++) assert_int_equal(got.stacks_ns[i], 0);
  char empty[] = "";
  effort_text_decode(empty, &got);
  assert_string_equal(got.budget_state, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_written_is_read),
      cmocka_unit_test(what_is_unknown_missing_or_broken_harms_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
