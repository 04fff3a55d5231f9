/* SPDX-License-Identifier: Apache-2.0 */
/* Names go into bytes and come back; bytes that nobody's writer makes are refused whole. */
#include "report/function_names.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/varint.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct function_name functions[] = {
    {0x100, 0x80, "main"}, {0x200, 0x100, "outer"}, {0x200, 0x10, ""}, {0x240, 8, "inn\xc3\xa9r"}};

static void fill(struct buf *ret) {
  const struct module_names modules[2] = {
      {span_of("\1\2\3\4", 4), NAMES_ALL, 4, functions},
      {span_of("\5", 1), NAMES_EXPORTED, 1, functions},
  };
  function_names_begin(ret);
  for (int i = 0; i < 2; i++) function_names_append(&modules[i], ret);
  assert_false(ret->failed);
}

static int decode(struct span payload, size_t arena_bytes) {
  struct arena arena;
  struct module_names *modules;
  uint32_t count;
  arena_init(&arena, arena_bytes);
  int error = function_names_decode(payload, &arena, &modules, &count);
  arena_fini(&arena);
  return error;
}

static void what_is_written_is_read_again(void **state) {
  struct buf payload = {0};
  struct arena arena;
  struct module_names *modules;
  uint32_t count;
  (void)state;
  fill(&payload);
  arena_init(&arena, 1 << 20);
  assert_int_equal(function_names_decode(buf_span(&payload), &arena, &modules, &count), 0);
  assert_int_equal(count, 2);
  assert_true(span_is_equal(modules[0].id, span_of("\1\2\3\4", 4)));
  assert_int_equal(modules[0].quality, NAMES_ALL);
  assert_int_equal(modules[0].count, 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(modules[0].functions[i].start, functions[i].start);
    assert_int_equal(modules[0].functions[i].size, functions[i].size);
    assert_string_equal(modules[0].functions[i].name, functions[i].name);
  }
  assert_int_equal(modules[1].quality, NAMES_EXPORTED);
  assert_int_equal(modules[1].count, 1);
  arena_fini(&arena);
  buf_fini(&payload);
}

/* Where it is cut between two modules it is shorter, else it is bad. */
static void a_payload_that_is_cut_is_refused(void **state) {
  struct buf payload = {0};
  int good = 0;
  (void)state;
  fill(&payload);
  for (size_t len = 0; len < payload.len; len++) {
    int error = decode(span_of(payload.data, len), 1 << 20);
    assert_true(error == 0 || error == -EBADMSG);
    good += error == 0;
  }
  assert_int_equal(good, 2); /* no module, and one */
  buf_fini(&payload);
}

static int decode_one(const struct function_name *pair, uint32_t count) {
  const struct module_names module = {span_of("\1", 1), NAMES_ALL, count, pair};
  struct buf payload = {0};
  function_names_begin(&payload);
  function_names_append(&module, &payload);
  int error = decode(buf_span(&payload), 1 << 20);
  buf_fini(&payload);
  return error;
}

static void what_would_mislead_is_refused(void **state) {
  (void)state;
  assert_int_equal(decode_one((struct function_name[]){{1, 1, "a"}, {1, 1, "b"}}, 2), 0);
  assert_int_equal(decode_one((struct function_name[]){{1, 1, "a\x1b[31m"}}, 1), -EBADMSG);
  assert_int_equal(decode_one((struct function_name[]){{1, 1, "\xff"}}, 1), -EBADMSG);
  assert_int_equal(decode_one((struct function_name[]){{1, 0, "a"}}, 1), -EBADMSG);
  assert_int_equal(decode_one((struct function_name[]){{2, UINT64_MAX, "a"}}, 1), -EBADMSG);
  assert_int_equal(decode_one((struct function_name[]){{1, 1, "a"}, {1, 2, "b"}}, 2), -EBADMSG);
  /* The step wraps. */
  assert_int_equal(decode_one((struct function_name[]){{2, 1, "a"}, {1, 1, "b"}}, 2), -EBADMSG);
}

static void counts_are_believed_as_far_as_bytes_go(void **state) {
  static const uint8_t functions_of_none[] = {1, 1, 1, 0xaa, 0xff, 0xff, 0x7f, 1, 1, 0};
  static const uint8_t a_long_name[] = {1, 1, 1, 0xaa, 1, 1, 1, 0xff, 0x7f, 'x'};
  static const uint8_t a_long_id[] = {1, 1, 0xff, 0x7f, 'x'};
  static const uint8_t a_quality[] = {1, 7, 1, 0xaa, 0};
  (void)state;
  assert_int_equal(decode(span_of(functions_of_none, sizeof functions_of_none), 1 << 20), -EBADMSG);
  assert_int_equal(decode(span_of(a_long_name, sizeof a_long_name), 1 << 20), -EBADMSG);
  assert_int_equal(decode(span_of(a_long_id, sizeof a_long_id), 1 << 20), -EBADMSG);
  assert_int_equal(decode(span_of(a_quality, sizeof a_quality), 1 << 20), -EBADMSG);
}

static void a_later_version_and_too_much_are_told_apart(void **state) {
  struct buf payload = {0};
  (void)state;
  assert_int_equal(decode(span_of("\2 whatever it holds", 19), 1 << 20), -EPROTO);
  fill(&payload);
  assert_int_equal(decode(buf_span(&payload), 64), -EOVERFLOW);
  buf_fini(&payload);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(a_payload_that_is_cut_is_refused),
      cmocka_unit_test(what_would_mislead_is_refused),
      cmocka_unit_test(counts_are_believed_as_far_as_bytes_go),
      cmocka_unit_test(a_later_version_and_too_much_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
