/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of symbols, from text to a lookup. */
#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/map_text.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct buf bytes;
static struct symbol_index built;
static struct index_summary summary;
static char why[256];

static int build(const char *text) {
  symbol_index_fini(&built);
  buf_clear(&bytes);
  why[0] = '\0';
  int error =
      index_builder_build(span_of_string(text), INDEX_ALL, &bytes, &summary, why, sizeof why);
  if (error != 0) return error;
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &built), 0);
  assert_int_equal(symbol_index_verify(&built), 0);
  return 0;
}

static const char *name_at(uint64_t address) {
  struct symbol_match match;
  return symbol_index_find(&built, address, &match) == 0 ? match.name : "";
}

static int unmake(void **state) {
  (void)state;
  symbol_index_fini(&built);
  buf_fini(&bytes);
  return 0;
}

static void a_function_reaches_to_the_next_symbol_of_any_type(void **state) {
  (void)state;
  assert_int_equal(build("1000 T first\n1040 t second\n1080 D table\n2000 T third\n"), 0);
  assert_true(summary.image.is_map);
  assert_int_equal(summary.image.function_count, 3);
  assert_string_equal(name_at(0x1000), "first");
  assert_string_equal(name_at(0x103f), "first");
  assert_string_equal(name_at(0x107f), "second");
  assert_string_equal(name_at(0x2000), "third");
  assert_string_equal(name_at(0xfff), "");
}

static void order_line_ends_and_a_missing_newline_do_not_matter(void **state) {
  (void)state;
  assert_int_equal(build("\r\n2000 T second\r\n                 U puts\r\n1000 T first"), 0);
  assert_string_equal(name_at(0x1fff), "first");
  assert_string_equal(name_at(0x2000), "second");
}

static void of_two_names_for_one_address_one_wins_always(void **state) {
  (void)state;
  assert_int_equal(build("1000 t local\n1000 T global\n1000 W weak\n2000 T end\n"), 0);
  assert_string_equal(name_at(0x1010), "global");
  assert_int_equal(build("1000 W weak\n1000 T global\n2000 T end\n1000 t local\n"), 0);
  assert_string_equal(name_at(0x1010), "global");
}

static void sizes_are_believed_where_there_are_any(void **state) {
  (void)state;
  assert_int_equal(build("1000 10 T first\n2000 20 T second\n"), 0);
  assert_string_equal(name_at(0x100f), "first");
  assert_string_equal(name_at(0x1010), "");
  assert_string_equal(name_at(0x201f), "second");
  assert_string_equal(name_at(0x2020), "");
}

static void the_last_function_has_an_end(void **state) {
  (void)state;
  assert_int_equal(build("1000 T only\nffffffffffffffff T edge\n"), 0);
  assert_string_equal(name_at(0x2000), "only");
  assert_string_equal(name_at(0x10000000), "");
}

static void a_kernel_is_brought_to_its_text(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\nffffffff81000040 T one\n"
      "ffffffff81000080 T start_kernel\nffffffff81000100 T _etext\nffffffff82000000 D jiffies\n",
      "0 T _text\n40 T one\n80 T start_kernel\n100 T _etext\n",
      "ffffffff90200000 T _stext\nffffffff90200040 T one\nffffffff90200080 T start_kernel\n"
      "ffffffff90200100 T _etext\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_int_equal(build(texts[i]), 0);
    assert_string_equal(name_at(0x41), "one");
    assert_string_equal(name_at(0x80), "start_kernel");
    assert_string_equal(name_at(0xffffffff81000040ULL), "");
  }
}

static void another_program_stays_where_it_is(void **state) {
  (void)state;
  assert_int_equal(build("1000 T _text\n1040 T main\n2000 T end\n"), 0);
  assert_string_equal(name_at(0x1040), "main");
}

static void the_first_line_may_say_whose_it_is(void **state) {
  (void)state;
  static const uint8_t id[] = {0xab, 0xcd, 0x01};
  assert_int_equal(build("# build-id abcd01\n0 T f\n"), 0);
  assert_int_equal(summary.image.build_id_len, 3);
  assert_memory_equal(summary.image.build_id, id, 3);
  assert_int_equal(build("0 T f\n"), 0);
  assert_int_equal(summary.image.build_id_len, 0);
}

static void undefined_symbols_may_come_first(void **state) {
  char text[4096];
  size_t at = 0;
  (void)state;
  for (int i = 0; i < 60; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "                 %c puts\n", "Uwv"[i % 3]);
  assert_true(map_text_is(span_of(text, at)));
  snprintf(text + at, sizeof text - at, "1000 T first\n");
  assert_int_equal(build(text), 0);
  assert_string_equal(name_at(0x1000), "first");
  assert_true(map_text_is(span_of_string("         w _ITM_register\n")));
  assert_false(map_text_is(span_of_string("       U puts\n                 X puts\n")));
  assert_false(map_text_is(span_of("                 \0 puts", 23)));
  assert_false(map_text_is(span_of_string("                 U")));
}

static void what_is_no_list_is_not_taken_for_one(void **state) {
  (void)state;
  static const char *const other[] = {"", "\177ELF", "hello\nworld\n"};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++)
    assert_false(map_text_is(span_of_string(other[i])));
  assert_false(map_text_is(span_of("10 T a\0b", 8)));
  assert_int_equal(build("1000 D data\n2000 B more\n"), -EBADMSG);
  assert_string_equal(why, "it has no function symbols");
}

/* A static function before the first global one of its file has no name, least of all that of the
   previous file's function. */
static void a_linkers_map_is_a_list_with_ends(void **state) {
  (void)state;
  assert_int_equal(build("# build-id 00ff10\n\nLinker script and memory map\n\n"
                         ".text           0x0000000000001000      0x151\n"
                         " .text          0x0000000000001000       0x20 a.o\n"
                         "                0x0000000000001000                first(int)\n"
                         "                0x0000000000001010                second\n"
                         " .text          0x0000000000001020       0x40 b.o\n"
                         "                0x0000000000001040                third\n"
                         " .text._ZN1a1bEv\n"
                         "                0x0000000000001060       0x10 c.o\n"),
                   0);
  assert_true(summary.image.is_map);
  assert_int_equal(summary.image.build_id_len, 3);
  assert_string_equal(name_at(0x100f), "first(int)");
  assert_string_equal(name_at(0x101f), "second");
  assert_string_equal(name_at(0x1020), "");
  assert_string_equal(name_at(0x105f), "third");
  assert_string_equal(name_at(0x1060), "a::b()");
  assert_string_equal(name_at(0x1070), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, unmake)
      TEST(a_function_reaches_to_the_next_symbol_of_any_type),
      TEST(order_line_ends_and_a_missing_newline_do_not_matter),
      TEST(of_two_names_for_one_address_one_wins_always),
      TEST(sizes_are_believed_where_there_are_any),
      TEST(the_last_function_has_an_end),
      TEST(a_kernel_is_brought_to_its_text),
      TEST(another_program_stays_where_it_is),
      TEST(the_first_line_may_say_whose_it_is),
      TEST(undefined_symbols_may_come_first),
      TEST(what_is_no_list_is_not_taken_for_one),
      TEST(a_linkers_map_is_a_list_with_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
