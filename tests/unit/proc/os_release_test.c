/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/os_release.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *version_in(const char *text) {
  static char value[OS_RELEASE_VALUE_BYTES];
  return os_release_find(span_of_string(text), "VERSION_ID", value) ? value : NULL;
}

static void a_value_is_bare_or_in_quotes(void **state) {
  (void)state;
  assert_string_equal(version_in("ID=poky\nVERSION_ID=4.0.1\nX=1\n"), "4.0.1");
  assert_string_equal(version_in("VERSION_ID=\"12\""), "12");
  assert_string_equal(version_in("VERSION_ID='23.05-rc1+r2~x:y_z'\n"), "23.05-rc1+r2~x:y_z");
}

static void a_name_is_a_whole_one_and_the_last_counts(void **state) {
  (void)state;
  assert_null(version_in("MY_VERSION_ID=1\nVERSION_ID_X=2\n#VERSION_ID=3\nVERSION_ID"));
  assert_string_equal(version_in("VERSION_ID=1\nVERSION_ID=2\n"), "2");
}

static void what_is_no_plain_word_is_no_version(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "VERSION_ID=",
      "VERSION_ID=\"\"",
      "VERSION_ID=\"",
      "VERSION_ID=a b",
      "VERSION_ID=$(reboot)",
      "VERSION_ID=\"1\\\"2\"",
      "VERSION_ID='1\"",
      "VERSION_ID=1\r\n",
      "VERSION_ID=\xc3\xa9",
      "VERSION_ID=0123456789012345678901234567890123456789012345678901234567890123"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_null(version_in(texts[i]));
  char value[OS_RELEASE_VALUE_BYTES];
  assert_false(os_release_find(span_of("VERSION_ID=1\0002", 14), "VERSION_ID", value));
}

static const char *firmware_of(const char *text) {
  static char value[OS_RELEASE_VALUE_BYTES];
  char path[] = "/tmp/os-release.XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  bool is_there = os_release_firmware(path, value);
  unlink(path);
  return is_there ? value : NULL;
}

static void the_image_speaks_before_what_it_is_made_of(void **state) {
  (void)state;
  assert_string_equal(firmware_of("VERSION_ID=12\nIMAGE_VERSION=2.7.1\n"), "2.7.1");
  assert_string_equal(firmware_of("IMAGE_VERSION=\"two words\"\nVERSION_ID=12\n"), "12");
  assert_null(firmware_of("ID=debian\n"));
  char value[OS_RELEASE_VALUE_BYTES];
  assert_false(os_release_firmware("/nowhere/os-release", value));
  assert_false(os_release_firmware("/tmp", value));
}

static void of_a_long_file_the_beginning_counts(void **state) {
  (void)state;
  static char text[OS_RELEASE_FILE_BYTES_MAX + 100];
  memset(text, '\n', sizeof text - 1);
  memcpy(text + OS_RELEASE_FILE_BYTES_MAX - 14, "\nVERSION_ID=12", 14);
  assert_string_equal(firmware_of(text), "12");
  memset(text, '\n', sizeof text - 1);
  memcpy(text + OS_RELEASE_FILE_BYTES_MAX, "VERSION_ID=12", 13);
  assert_null(firmware_of(text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_value_is_bare_or_in_quotes),
      cmocka_unit_test(a_name_is_a_whole_one_and_the_last_counts),
      cmocka_unit_test(what_is_no_plain_word_is_no_version),
      cmocka_unit_test(the_image_speaks_before_what_it_is_made_of),
      cmocka_unit_test(of_a_long_file_the_beginning_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
