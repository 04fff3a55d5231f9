/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols in linkers' maps. Lines are from GNU ld 2.40, gold and LLD 14, shortened. */
#include "common/linker_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static char told[4096];

/* All symbols of TEXT, "ADDRESS SIZE TYPE NAME FILE;" each. */
static const char *list(const char *text) {
  struct linker_map map;
  struct symbol_line line;
  size_t at = 0;
  assert_true(linker_map_is(span_of_string(text)));
  linker_map_begin(span_of_string(text), &map);
  told[0] = '\0';
  while (linker_map_next(&map, &line) == 0 && at < sizeof told)
    at += (size_t)snprintf(told + at, sizeof told - at, "%llx %llx %c %.*s %.*s;",
                           (unsigned long long)line.address, (unsigned long long)line.size,
                           line.type, (int)line.name.len, (const char *)line.name.data,
                           (int)line.module.len, (const char *)line.module.data);
  assert_true(at < sizeof told);
  return told;
}

#define GNU_HEAD "\nMemory Configuration\n\nName Origin\n\nLinker script and memory map\n\n"

static void gnu_symbols_reach_to_the_end_of_what_their_file_gave(void **state) {
  (void)state;
  assert_string_equal(list(GNU_HEAD "LOAD a.o\n"
                                    ".text           0x0000000000001050      0x151\n"
                                    " *(.text.hot .text.hot.*)\n"
                                    " .text          0x0000000000001050       0x22 crt1.o\n"
                                    "                0x0000000000001050                _start\n"
                                    " *fill*         0x0000000000001072        0xe \n"
                                    " .text          0x0000000000001080       0x60 a.o\n"
                                    "                0x0000000000001090                work\n"
                                    "                0x00000000000010b0                main\n"),
                      "1050 22 T _start crt1.o;1090 50 T work a.o;10b0 30 T main a.o;");
}

static void gnu_sections_of_one_function_name_it(void **state) {
  (void)state;
  assert_string_equal(
      list(GNU_HEAD ".text           0x00008000      0x151\n"
                    " .text.work     0x00008000       0x26 a.o\n"
                    " .text.unlikely.a_long_name\n"
                    "                0x00008026        0x3 lib.a(b.o)\n"
                    "                0x00008026                a_long_name\n"
                    " .text.unlikely\n"
                    "                0x00008029        0x0 a.o\n"
                    " .text.startup  0x00008029        0x4 a.o\n"
                    " .gnu.linkonce.t._Z1fv\n"
                    "                0x00008030        0x4 a.o\n"),
      "8000 26 t work a.o;8026 3 t a_long_name lib.a(b.o);8026 3 T a_long_name lib.a(b.o);"
      "8030 4 t _Z1fv a.o;");
}

static void what_is_no_function_of_a_gnu_map_is_left_out(void **state) {
  (void)state;
  assert_string_equal(
      list("\nDiscarded input sections\n\n .text.gone     0x00000000  0x8 a.o\n" GNU_HEAD
           "                [!provide]                        PROVIDE (etext = .)\n"
           ".plt            0x00001020       0x20\n"
           " .plt           0x00001020       0x20 crt1.o\n"
           "                0x00001030                printf@@GLIBC_2.2.5\n"
           ".text           0x00001050       0x51\n"
           "                0x00001050                _stext = .\n"
           "                0x00001050                . = ALIGN (0x10)\n"
           " .text          0x00001050       0x20 a.o\n"
           "                                 0x2c (size before relaxing)\n"
           "                0x00001050                ns::operator==(ns::x const&)\n"
           "                0x00001060                (anonymous namespace)::f(int)\n"
           "                0x00001070                at_the_end\n"
           "                0x00001070                _etext += 0x10\n"
           " .rodata.text_of\n"
           "                0x00001070        0x8 a.o\n"
           "                0x00001070                constant\n"),
      "1020 20 t [plt] crt1.o;1050 20 T ns::operator==(ns::x const&) a.o;"
      "1060 10 T (anonymous namespace)::f(int) a.o;1070 8 D constant a.o;");
}

#define LLD_HEAD "             VMA              LMA     Size Align Out     In      Symbol\n"

static void lld_says_sizes(void **state) {
  (void)state;
  assert_string_equal(
      list(
          LLD_HEAD
          "            1bd0             1bd0      30a    16 .text\n"
          "            1c00             1c00       b9    16         /lib/crtbeginS.o:(.text)\n"
          "            1c00             1c00        0     1                 deregister\n"
          "            1c30             1c30       10     1                 register\n"
          "            1d21             1d21       6c     1         b.o:(.text._ZNK1bEv)\n"
          "            1d21             1d21       6c     1                 ns::b::get(int) const\n"
          "            1f00             1f00       c0    16 .plt\n"
          "            1f00             1f00       c0    16         <internal>:(.plt)\n"
          "            2000             2000        4     4 .data\n"
          "            2000             2000        4     4         a.o:(.data)\n"
          "            2000             2000        4     1                 thing\n"
          "            2004             2004        0     1         end = .\n"),
      "1c00 b9 T deregister /lib/crtbeginS.o;1c30 10 T register /lib/crtbeginS.o;"
      "1d21 6c T ns::b::get(int) const b.o;1f00 c0 t [plt] <internal>;2000 4 D thing a.o;");
}

static void an_older_lld_has_one_address(void **state) {
  (void)state;
  assert_string_equal(list("Address          Size             Align Out     In      Symbol\n"
                           "0000000000201000 0000000000000015     4 .text\n"
                           "0000000000201000 000000000000000e     4         a.o:(.text)\n"
                           "0000000000201000 0000000000000000     0                 _start\r\n"),
                      "201000 e T _start a.o;");
}

static void the_bit_that_says_thumb_is_no_part_of_an_address(void **state) {
  (void)state;
  assert_string_equal(list("     VMA      LMA     Size Align Out     In      Symbol\n"
                           "   200f4    200f4       46     4 .text\n"
                           "   200f4    200f4       46     4         th.o:(.text)\n"
                           "   200f5    200f5       1e     1                 work\n"
                           "       0        0       3e     1 .ARM.attributes\n"),
                      "200f4 1e T work th.o;");
}

static void only_maps_are_maps(void **state) {
  (void)state;
  assert_false(linker_map_is(span_of_string("")));
  assert_false(linker_map_is(span_of_string("0000000000001050 T _start\n")));
  assert_false(linker_map_is(span_of_string("{\"version\":3,\"mappings\":\"AAAA\"}")));
  assert_false(linker_map_is(span_of_string("Address of the sender\n")));
  assert_true(linker_map_is(span_of_string("# build-id 00ff\n\nMemory map\n")));
  assert_string_equal(list("There are no discarded input sections\n"), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gnu_symbols_reach_to_the_end_of_what_their_file_gave),
      cmocka_unit_test(gnu_sections_of_one_function_name_it),
      cmocka_unit_test(what_is_no_function_of_a_gnu_map_is_left_out),
      cmocka_unit_test(lld_says_sizes),
      cmocka_unit_test(an_older_lld_has_one_address),
      cmocka_unit_test(the_bit_that_says_thumb_is_no_part_of_an_address),
      cmocka_unit_test(only_maps_are_maps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
