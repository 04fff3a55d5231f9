/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of tar archives, both ways. */
#include "backup/tar_header.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SUM_AT = 148, TYPE_AT = 156 };

static struct tar_member named(const char *name, uint64_t size) {
  struct tar_member member = {.size = size, .mtime_s = 1767268800, .mode = 0600};
  snprintf(member.name, sizeof member.name, "%s", name);
  return member;
}

/* Computes BLOCK's checksum again after a change. */
static void sum_again(uint8_t block[TAR_BLOCK_BYTES]) {
  unsigned sum = 0;
  memset(block + SUM_AT, ' ', 8);
  for (int i = 0; i < TAR_BLOCK_BYTES; i++) sum += block[i];
  snprintf((char *)block + SUM_AT, 8, "%06o", sum);
}

static void assert_comes_back(const struct tar_member *member) {
  uint8_t block[TAR_BLOCK_BYTES];
  struct tar_member again;
  assert_int_equal(tar_header_encode(member, block), 0);
  assert_int_equal(tar_header_decode(block, &again), 0);
  assert_string_equal(again.name, member->name);
  assert_int_equal(again.size, member->size);
  assert_int_equal(again.mode, member->mode);
  assert_int_equal(again.mtime_s, member->mtime_s);
}

static void what_is_written_is_read(void **state) {
  (void)state;
  const uint64_t sizes[] = {
      0, 1, 511, 512, (UINT64_C(1) << 33) - 1, UINT64_C(1) << 33, UINT64_C(1) << 45};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct tar_member member = named("day-2026-01-01.db", sizes[i]);
    assert_comes_back(&member);
  }
}

static void long_names_are_cut_at_a_slash(void **state) {
  (void)state;
  char name[TAR_NAME_BYTES];
  for (int folder = 1; folder <= 155; folder++) {
    snprintf(name, sizeof name, "%.*s/%.*s", folder,
             "ffffffffffffffffffffffffffffffffffffffffff"
             "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
             "ffffffffffffffffffffffffffffffffffffffffffff",
             100,
             "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
             "nnnnnnnnnnnnnnnnnnnn");
    struct tar_member member = named(name, 5);
    assert_comes_back(&member);
  }
  uint8_t block[TAR_BLOCK_BYTES];
  memset(name, 'n', 101);
  name[101] = '\0';
  struct tar_member too_long = named(name, 5);
  assert_int_equal(tar_header_encode(&too_long, block), -ENAMETOOLONG);
}

static void a_name_that_leaves_the_folder_is_refused(void **state) {
  (void)state;
  static const char *const names[] = {"/etc/passwd", "../x", "a/../x", "a//b", "./a", "a/",
                                      "a/.",         "..",   ".",      "",     "a\nb"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint8_t block[TAR_BLOCK_BYTES];
    struct tar_member member = named(names[i], 0);
    assert_int_equal(tar_header_encode(&member, block), 0);
    assert_int_equal(tar_header_decode(block, &member), -EBADMSG);
  }
}

static void anything_but_a_file_is_refused(void **state) {
  (void)state;
  struct tar_member member = named("link", 0);
  uint8_t block[TAR_BLOCK_BYTES];
  assert_int_equal(tar_header_encode(&member, block), 0);
  for (const char *type = "123456LKxg"; *type != '\0'; type++) {
    block[TYPE_AT] = (uint8_t)*type;
    sum_again(block);
    assert_int_equal(tar_header_decode(block, &member), -EBADMSG);
  }
  block[TYPE_AT] = '0';
  sum_again(block);
  assert_int_equal(tar_header_decode(block, &member), 0);
}

static void each_flipped_bit_is_noticed(void **state) {
  (void)state;
  struct tar_member member = named("landing.db", 4096);
  uint8_t block[TAR_BLOCK_BYTES];
  for (unsigned bit = 0; bit < TAR_BLOCK_BYTES * 8; bit++) {
    struct tar_member again;
    assert_int_equal(tar_header_encode(&member, block), 0);
    block[bit / 8] ^= (uint8_t)(1 << bit % 8);
    bool is_in_sum = bit / 8 >= SUM_AT && bit / 8 < SUM_AT + 8; /* a blank may stand for a nought */
    if (!is_in_sum) assert_int_equal(tar_header_decode(block, &again), -EBADMSG);
  }
}

static void zeros_are_the_end(void **state) {
  (void)state;
  uint8_t block[TAR_BLOCK_BYTES] = {0};
  struct tar_member member;
  assert_int_equal(tar_header_decode(block, &member), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(long_names_are_cut_at_a_slash),
      cmocka_unit_test(a_name_that_leaves_the_folder_is_refused),
      cmocka_unit_test(anything_but_a_file_is_refused),
      cmocka_unit_test(each_flipped_bit_is_noticed),
      cmocka_unit_test(zeros_are_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
