/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/name_text.h"

static void expect(const char *raw, size_t len, size_t limit, const char *clean) {
  struct buf out = {0};
  name_text_append(span_of(raw, len), limit, &out);
  assert_false(out.failed);
  assert_string_equal((const char *)out.data, clean);
  assert_int_equal(out.len, strlen(clean) + 1);
  assert_true(name_text_is_clean(span_of(out.data, out.len - 1)));
  buf_fini(&out);
}

#define EXPECT(raw, clean) expect(raw, sizeof raw - 1, 1000, clean)

static void plain_and_utf8_names_stay_as_they_are(void **state) {
  (void)state;
  EXPECT("main", "main");
  EXPECT("", "");
  EXPECT("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
  EXPECT("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT("</script><b>", "</script><b>");
}

static void control_characters_become_question_marks(void **state) {
  (void)state;
  EXPECT("a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?");
  expect("a\0b", 3, 100, "a?b");
  EXPECT("\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0");
}

static void marks_that_turn_the_direction_of_writing_are_replaced(void **state) {
  (void)state;
  EXPECT("a\xe2\x80\xae"
         "b",
         "a???b");
  EXPECT("a\xe2\x81\xa6"
         "b",
         "a???b");
  EXPECT("a\xe2\x80\xa9"
         "b",
         "a\xe2\x80\xa9"
         "b");
}

static void invalid_utf8_becomes_question_marks(void **state) {
  (void)state;
  EXPECT("\xff\xfe", "??");
  EXPECT("\xc0\x80", "??");           /* overlong NUL */
  EXPECT("\xe0\x80\xaf", "???");      /* overlong slash */
  EXPECT("\xed\xa0\x80", "???");      /* surrogate */
  EXPECT("\xf4\x90\x80\x80", "????"); /* over U+10FFFF */
  EXPECT("\xf5\x80\x80\x80", "????");
  EXPECT("x\xe2\x82", "x??"); /* ends in the middle */
  EXPECT("\x80", "?");
}

static void a_long_name_is_cut_with_a_mark_and_never_within_a_character(void **state) {
  (void)state;
  expect("abcdefghij", 10, 10, "abcdefghij");
  expect("abcdefghijk", 11, 10, "abcdefg...");
  expect("abcdef\xc3\xbcxyz", 11, 10, "abcdef...");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_and_utf8_names_stay_as_they_are),
      cmocka_unit_test(control_characters_become_question_marks),
      cmocka_unit_test(marks_that_turn_the_direction_of_writing_are_replaced),
      cmocka_unit_test(invalid_utf8_becomes_question_marks),
      cmocka_unit_test(a_long_name_is_cut_with_a_mark_and_never_within_a_character),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
