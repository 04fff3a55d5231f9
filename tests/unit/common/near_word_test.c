/* SPDX-License-Identifier: Apache-2.0 */
#include "common/near_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const commands[] = {"run", "report", "name", "query", "status"};

static const char *find(const char *word) {
  struct near_word near = {.word = word};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    near_word_offer(&near, commands[i]);
  const char *found = near_word_found(&near);
  return found != NULL ? found : "";
}

static void a_slip_finds_its_word(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"report", "report"}, {"repor", "report"},  {"rreport", "report"},
      {"raport", "report"}, {"qurey", "query"}, /* two swapped letters are one error */
      {"reprot", "report"}, {"stauts", "status"}, {"rn", "run"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(find(rows[i][0]), rows[i][1]);
}

static void another_word_finds_none(void **state) {
  (void)state;
  static const char *const rows[] = {"", "frobnicate", "rapid", "wuery_x", "re"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_string_equal(find(rows[i]), "");
}

static void of_two_as_near_the_first_stays(void **state) {
  (void)state;
  struct near_word near = {.word = "bat"};
  assert_true(near_word_offer(&near, "cat"));
  assert_false(near_word_offer(&near, "hat"));
  assert_string_equal(near_word_found(&near), "cat");
  assert_true(near_word_offer(&near, "bat"));
  assert_string_equal(near_word_found(&near), "bat");
}

static void of_long_words_the_start_counts(void **state) {
  (void)state;
  char word[4 * NEAR_WORD_BYTES], other[4 * NEAR_WORD_BYTES];
  memset(word, 'x', sizeof word);
  memset(other, 'x', sizeof other);
  word[sizeof word - 1] = other[sizeof other - 1] = '\0';
  word[2 * NEAR_WORD_BYTES] = 'y';
  struct near_word near = {.word = word};
  near_word_offer(&near, other);
  assert_ptr_equal(near_word_found(&near), other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_slip_finds_its_word),
      cmocka_unit_test(another_word_finds_none),
      cmocka_unit_test(of_two_as_near_the_first_stays),
      cmocka_unit_test(of_long_words_the_start_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
