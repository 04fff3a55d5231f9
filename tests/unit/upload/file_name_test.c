/* SPDX-License-Identifier: Apache-2.0 */
#include "upload/file_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_of_archives_are_known(void **state) {
  (void)state;
  static const char *const archives[] = {"a.tar",
                                         "image.rootfs.tar.zst",
                                         "A.TGZ",
                                         "x/data.tar.xz",
                                         "busybox-dbg_1.36_armhf.deb",
                                         "x.ipk",
                                         "x.rpm",
                                         "rootfs.cpio.gz"};
  static const char *const packed[] = {"ath9k.ko.xz", "vmlinux.gz", "x.map.zst"};
  static const char *const plain[] = {"busybox", "libc.so.6", "a.tar.sig", "tar", ".tar",
                                      "x.a",     "gz",        ".xz",       ""};
  for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
    assert_int_equal(file_name_form(archives[i]), FORM_ARCHIVE);
  for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
    assert_int_equal(file_name_form(packed[i]), FORM_PACKED);
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    assert_int_equal(file_name_form(plain[i]), FORM_PLAIN);
}

static void names_of_lists_are_known(void **state) {
  (void)state;
  assert_true(file_name_is_list("boot/System.map-6.1.0"));
  assert_true(file_name_is_list("tool.map"));
  assert_true(file_name_is_list("x/kallsyms"));
  assert_false(file_name_is_list("map"));
  assert_false(file_name_is_list("System.map.d/readme"));
}

static void an_id_is_even_and_hexadecimal(void **state) {
  (void)state;
  uint8_t id[20];
  assert_int_equal(file_name_id("lists/00FFab129e.map", id, sizeof id), 5);
  assert_memory_equal(id, "\x00\xff\xab\x12\x9e", 5);
  assert_int_equal(file_name_id("facade.map", id, sizeof id), 0); /* a word */
  assert_int_equal(file_name_id("0123456789abc.map", id, sizeof id), 0);
  assert_int_equal(file_name_id("System.map", id, sizeof id), 0);
  assert_int_equal(file_name_parse_id("0011", 4, id, 1), 0);
  assert_int_equal(file_name_parse_id("", 0, id, sizeof id), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_archives_are_known),
      cmocka_unit_test(names_of_lists_are_known),
      cmocka_unit_test(an_id_is_even_and_hexadecimal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
