/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LONG_BYTES = 2000 };

static struct answer answer;

static int end_answer(void **state) {
  (void)state;
  answer_fini(&answer);
  answer = (struct answer){0};
  return 0;
}

static const char *problem_of(const char *detail) {
  answer_problem(&answer, 400, "by", "%s", detail);
  return buf_text(&answer.body);
}

static void a_problem_says_all_of_it(void **state) {
  (void)state;
  assert_string_equal(problem_of("by: is missing"),
                      "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                      "\"detail\":\"by: is missing\",\"parameter\":\"by\"}\n");
}

static void what_is_too_long_ends_behind_a_word(void **state) {
  (void)state;
  char text[LONG_BYTES + 1];
  for (size_t i = 0; i < LONG_BYTES; i++) text[i] = "seven77 "[i % 8];
  text[LONG_BYTES] = '\0';
  assert_non_null(strstr(problem_of(text), " seven77 ...\",\"parameter\""));
}

static void one_word_that_is_too_long_is_cut_all_the_same(void **state) {
  (void)state;
  char text[LONG_BYTES + 1];
  memset(text, 'x', LONG_BYTES);
  text[LONG_BYTES] = '\0';
  assert_non_null(strstr(problem_of(text), "xxx ...\",\"parameter\""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_problem_says_all_of_it, end_answer),
      cmocka_unit_test_teardown(what_is_too_long_ends_behind_a_word, end_answer),
      cmocka_unit_test_teardown(one_word_that_is_too_long_is_cut_all_the_same, end_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
