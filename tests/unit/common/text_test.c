/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void letters_of_every_length_are_clean(void **state) {
  (void)state;
  static const char *const clean[] = {
      "",
      " ~",
      "/usr/bin/\xc3\xa4",
      "\xc2\xa0",
      "\xe0\xa0\x80",
      "\xed\x9f\xbf",
      "\xee\x80\x80",
      "\xf0\x90\x80\x80",
      "\xf4\x8f\xbf\xbf",
      "\xe2\x82\xac and more",
  };
  for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
    if (!text_is_clean(span_of_string(clean[i]))) fail_msg("case %zu is refused", i);
}

static void what_breaks_the_rule_is_not_clean_and_gets_cleaned(void **state) {
  (void)state;
  static const struct {
    const char *bad, *cleaned;
  } cases[] = {
      {"a\nb", "a?b"},                                   /* a control */
      {"\x1b[2J", "?[2J"},                               /* an escape sequence */
      {"\x7f", "?"},                                     /* delete */
      {"\xc2\x85", "??"},                                /* U+0085 */
      {"\x80", "?"},                                     /* a tail alone */
      {"\xc3", "?"},                                     /* cut short at the end */
      {"\xc3(", "?("},                                   /* cut short by a letter */
      {"\xe2\x82", "??"},                                /* of three bytes two */
      {"\xe2\x82z", "??z"},                              /* the same, with a letter behind */
      {"\xf0\x90\x80", "???"},                           /* of four bytes three */
      {"\xc0\xaf", "??"},                                /* overlong '/' */
      {"\xe0\x9f\xbf", "???"},                           /* overlong, three bytes */
      {"\xf0\x8f\xbf\xbf", "????"},                      /* overlong, four bytes */
      {"\xed\xa0\x80", "???"},                           /* a surrogate */
      {"\xf4\x90\x80\x80", "????"},                      /* past U+10FFFF */
      {"\xf5\x80\x80\x80", "????"},                      /* an invalid lead byte */
      {"\xff\xfe", "??"},                                /* neither */
      {"ok\xc3\xa4\xff\xc3\xa4", "ok\xc3\xa4?\xc3\xa4"}, /* only the bad byte is replaced */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[32];
    memcpy(text, cases[i].bad, strlen(cases[i].bad) + 1);
    if (text_is_clean(span_of_string(text))) fail_msg("case %zu is taken", i);
    text_clean(text);
    assert_string_equal(text, cases[i].cleaned);
    assert_true(text_is_clean(span_of_string(text)));
  }
  assert_false(text_is_clean(span_of("a\0b", 3)));
}

static void cleaning_makes_every_byte_pair_clean(void **state) {
  (void)state;
  for (unsigned first = 1; first < 256; first++) {
    for (unsigned second = 1; second < 256; second++) {
      char text[] = {(char)first, (char)second, 'x', '\0'};
      text_clean(text);
      assert_true(text_is_clean(span_of_string(text)));
      assert_int_equal(strlen(text), 3);
    }
  }
}

static void marks_that_turn_text_travel_and_are_not_shown(void **state) {
  (void)state;
  static const char *const turning[] = {"\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
                                        "\xe2\x81\xa9"};
  static const char *const harmless[] = {"\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\xa5",
                                         "\xe2\x81\xaa", "\xe3\x80\xae"};
  char text[16];
  for (size_t i = 0; i < sizeof turning / sizeof *turning; i++) {
    snprintf(text, sizeof text, "a%sb", turning[i]);
    assert_true(text_is_clean(span_of_string(text)));
    text_show(text);
    assert_memory_equal(text, "a?\?\?b", 6);
  }
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
    snprintf(text, sizeof text, "a%sb", harmless[i]);
    text_show(text);
    assert_memory_equal(text + 1, harmless[i], 3);
  }
  snprintf(text, sizeof text, "\x1b[2J\xe2\x80");
  text_show(text);
  assert_string_equal(text, "?[2J?\?");
}

static void a_line_is_one_line_whatever_is_in_it(void **state) {
  (void)state;
  char *printed;
  size_t len;
  FILE *out = open_memstream(&printed, &len);
  text_print(out, "%s: %s %d", "a\nb\x1b[2J", "\xc2\x9b\xe2\x80\xae", 7);
  fclose(out);
  assert_string_equal(printed, "a?b?[2J: ?\?\?\?\? 7\n");
  free(printed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(letters_of_every_length_are_clean),
      cmocka_unit_test(what_breaks_the_rule_is_not_clean_and_gets_cleaned),
      cmocka_unit_test(cleaning_makes_every_byte_pair_clean),
      cmocka_unit_test(marks_that_turn_text_travel_and_are_not_shown),
      cmocka_unit_test(a_line_is_one_line_whatever_is_in_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
