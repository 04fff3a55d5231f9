/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/mappings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_path(const struct mapping *mapping, const char *path) {
  assert_int_equal(mapping->path.len, strlen(path));
  assert_memory_equal(mapping->path.data, path, strlen(path));
}

static void a_line_becomes_a_mapping(void **state) {
  (void)state;
  struct span text =
      span_of_string("7f0c1a000000-7f0c1a021000 r-xp 00001000 fe:01 1234567    /usr/lib/libc.so.6\n"
                     "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
                     "7ffd0000-7ffe0000 rw-p 00000000 00:00 0 \n");
  struct mapping mapping;
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_int_equal(mapping.start, 0x7f0c1a000000);
  assert_int_equal(mapping.end, 0x7f0c1a021000);
  assert_true(mapping.is_executable);
  assert_int_equal(mapping.file_offset, 0x1000);
  assert_int_equal(mapping.major, 0xfe);
  assert_int_equal(mapping.minor, 1);
  assert_int_equal(mapping.inode, 1234567);
  assert_path(&mapping, "/usr/lib/libc.so.6");
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_true(mapping.start == 0xffffffffff600000);
  assert_path(&mapping, "[vsyscall]");
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_false(mapping.is_executable);
  assert_path(&mapping, "");
  assert_int_equal(mappings_next(&text, &mapping), -ENOENT);
}

static void a_path_may_hold_blanks_and_more(void **state) {
  (void)state;
  struct span text =
      span_of_string("1000-2000 r-xp 0 8:1 7 /a b/c (deleted)\n1000-2000 r-xp 0 8:1 7 /x\\012y\n");
  struct mapping mapping;
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_path(&mapping, "/a b/c (deleted)");
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_path(&mapping, "/x\\012y");
}

static void the_last_line_needs_no_end(void **state) {
  (void)state;
  struct span text = span_of_string("1000-2000 r-xp 0 8:1 7");
  struct mapping mapping;
  assert_int_equal(mappings_next(&text, &mapping), 0);
  assert_int_equal(mapping.inode, 7);
  assert_int_equal(mappings_next(&text, &mapping), -ENOENT);
}

static void a_line_that_is_no_mapping_is_passed_over(void **state) {
  (void)state;
  const char *const bad[] = {
      "",
      "1000",
      "1000-2000",
      "1000-2000 r-xp",
      "1000 2000 r-xp 0 8:1 7 /x",
      "2000-1000 r-xp 0 8:1 7 /x",
      "1000-1000 r-xp 0 8:1 7 /x",
      "10000000000000000-20000000000000000 r-xp 0 8:1 7 /x",
      "1000-2000 r-x 0 8:1 7 /x",
      "1000-2000 r-xp zz 8:1 7 /x",
      "1000-2000 r-xp 0 100000000:1 7 /x",
      "1000-2000 r-xp 0 8:1 7f /x",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char lines[200] = "";
    strncat(lines, bad[i], 100);
    strncat(lines, "\n1000-2000 r-xp 0 8:1 7 /good\n", 60);
    struct span text = span_of_string(lines);
    struct mapping mapping;
    assert_int_equal(mappings_next(&text, &mapping), -EBADMSG);
    assert_int_equal(mappings_next(&text, &mapping), 0);
    assert_path(&mapping, "/good");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_becomes_a_mapping),
      cmocka_unit_test(a_path_may_hold_blanks_and_more),
      cmocka_unit_test(the_last_line_needs_no_end),
      cmocka_unit_test(a_line_that_is_no_mapping_is_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
