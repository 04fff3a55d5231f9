/* SPDX-License-Identifier: Apache-2.0 */
#include "common/symbol_line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct symbol_line line;

static int read_line(const char *text) {
  struct span span = span_of_string(text);
  return symbol_line_next(&span, &line);
}

static void assert_name(const char *name) {
  assert_true(span_is_equal(line.name, span_of_string(name)));
}

static void each_format_gives_address_type_and_name(void **state) {
  (void)state;
  assert_int_equal(read_line("ffffffff81000000 T _text\n"), 0);
  assert_true(line.address == 0xffffffff81000000ULL && line.type == 'T' && line.size == 0);
  assert_name("_text");
  assert_int_equal(read_line("0000000000001139 0000000000000016 t local\n"), 0);
  assert_true(line.address == 0x1139 && line.size == 0x16 && line.type == 't');
  assert_name("local");
  assert_int_equal(read_line("0x8000 W weak"), 0);
  assert_int_equal(line.address, 0x8000);
  assert_name("weak");
}

static void a_module_is_cut_off_and_blanks_in_a_name_are_kept(void **state) {
  (void)state;
  assert_int_equal(read_line("ffffffffc0001000 t e1000_probe\t[e1000]\n"), 0);
  assert_name("e1000_probe");
  assert_true(span_is_equal(line.module, span_of_string("e1000")));
  assert_int_equal(read_line("1000 T operator new[](unsigned long)\n"), 0);
  assert_name("operator new[](unsigned long)");
  assert_int_equal(line.module.len, 0);
}

static void a_carriage_return_and_a_missing_newline_change_nothing(void **state) {
  (void)state;
  struct span text = span_of_string("10 T first\r\n20 T last");
  assert_int_equal(symbol_line_next(&text, &line), 0);
  assert_name("first");
  assert_int_equal(symbol_line_next(&text, &line), 0);
  assert_name("last");
  assert_int_equal(symbol_line_next(&text, &line), -ENOENT);
}

static void what_is_no_symbol_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "\n",
      "                 U printf\n",
      "10 T\n",
      "10\n",
      "T main\n",
      "10 TT main\n",
      "g0 T main\n",
      "10 7 main\n",
      "12345678123456781 T main\n",
      "heading\n",
      "10 U main\n",
      "0x T main\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(read_line(bad[i]), -EBADMSG);
  assert_int_equal(read_line(""), -ENOENT);
}

static void code_is_told_from_data(void **state) {
  (void)state;
  for (const char *type = "TtWwi"; *type; type++) {
    line.type = *type;
    assert_true(symbol_line_is_code(&line));
  }
  for (const char *type = "DdBbRrAaVvN?"; *type; type++) {
    line.type = *type;
    assert_false(symbol_line_is_code(&line));
  }
  line.type = '\0';
  assert_false(symbol_line_is_code(&line));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_format_gives_address_type_and_name),
      cmocka_unit_test(a_module_is_cut_off_and_blanks_in_a_name_are_kept),
      cmocka_unit_test(a_carriage_return_and_a_missing_newline_change_nothing),
      cmocka_unit_test(what_is_no_symbol_is_refused),
      cmocka_unit_test(code_is_told_from_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
