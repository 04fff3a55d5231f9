/* SPDX-License-Identifier: Apache-2.0 */
/* Names are encoded and decoded again; bytes that no writer makes are rejected completely. */
#include "frame_fixture.h"

#include "report/function_names.h"

#include "common/arena.h"
#include "proto/varint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A readable name with its mangled name, inlined into a function, and that function by itself. */
static const struct symbol_frame chain[] = {
    {"ns::step()\0_ZN2ns4stepEv", true, "step.h", 12, "step.h", 10, 0x200, 0x100},
    {"outer", false, "a.c", 70, "a.c", 60, 0x200, 0x100}};
static const struct symbol_frame lone[] = {{"inn\xc3\xa9r", false, NULL, 0, NULL, 0, 0x240, 8},
                                           {"", false, NULL, 0, NULL, 0, 0x300, 0x40}};
static const struct place_name places[] = {
    {0x210, 2, chain}, {0x211, 1, chain + 1}, {0x240, 1, lone}, {0x333, 1, lone + 1}};

enum { PLACES = sizeof places / sizeof *places };

static void fill(struct buf *ret) {
  struct function_names names = {.failed = false};
  function_names_begin(&names, span_of("\1\2\3\4", 4), NAMES_DEBUG);
  for (int i = 0; i < PLACES; i++) function_names_add(&names, &places[i]);
  function_names_begin(&names, span_of("\5", 1), NAMES_EXPORTED);
  function_names_add(&names, &places[2]);
  assert_true(function_names_bytes(&names) > 0);
  function_names_end(&names, ret);
  assert_int_equal(function_names_bytes(&names), 0);
  assert_false(ret->failed);
  function_names_fini(&names);
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
  assert_int_equal(modules[0].quality, NAMES_DEBUG);
  assert_int_equal(modules[0].count, PLACES);
  for (int i = 0; i < PLACES; i++) {
    const struct place_name *got = &modules[0].places[i];
    assert_int_equal(got->address, places[i].address);
    assert_int_equal(got->count, places[i].count);
    for (uint32_t f = 0; f < got->count; f++) assert_frame(&got->frames[f], &places[i].frames[f]);
  }
  assert_int_equal(modules[1].quality, NAMES_EXPORTED);
  assert_int_equal(modules[1].count, 1);
  arena_fini(&arena);
  buf_fini(&payload);
}

/* Another address of a known function takes less than any of its texts. */
static void what_is_there_already_takes_little(void **state) {
  struct function_names names = {.failed = false};
  struct place_name place = places[0];
  struct buf payload = {0};
  (void)state;
  function_names_begin(&names, span_of("\1", 1), NAMES_DEBUG);
  function_names_add(&names, &place);
  size_t first = function_names_bytes(&names);
  for (int i = 0; i < 100; i++) place.address++, function_names_add(&names, &place);
  assert_true(function_names_bytes(&names) <= first + 100 * 8);
  function_names_end(&names, &payload);
  assert_true(payload.len <= first + 100 * 8 + 16);
  buf_fini(&payload);
}

/* A cut between two modules gives a shorter payload, any other cut an invalid one. */
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
  assert_int_equal(good, 2); /* no module, and one module */
  buf_fini(&payload);
}

/* One place of one module; ADDRESS in the code range of FRAME. */
static int decode_one(struct symbol_frame frame, uint64_t address) {
  const struct place_name place = {address, 1, &frame};
  struct function_names names = {.failed = false};
  struct buf payload = {0};
  function_names_begin(&names, span_of("\1", 1), NAMES_ALL);
  function_names_add(&names, &place);
  function_names_end(&names, &payload);
  int error = decode(buf_span(&payload), 1 << 20);
  buf_fini(&payload);
  return error;
}

static void what_would_mislead_is_refused(void **state) {
  (void)state;
  assert_int_equal(decode_one((struct symbol_frame){.name = "a", .start = 1, .size = 1}, 1), 0);
  assert_int_equal(decode_one((struct symbol_frame){.name = "a\x1b[31m", .start = 1, .size = 1}, 1),
                   -EBADMSG);
  assert_int_equal(decode_one((struct symbol_frame){.name = "\xff", .start = 1, .size = 1}, 1),
                   -EBADMSG);
  assert_int_equal(
      decode_one((struct symbol_frame){.name = "a", .file = "\n", .start = 1, .size = 1}, 1),
      -EBADMSG);
  assert_int_equal(decode_one((struct symbol_frame){.name = "a", .start = 1, .size = 0}, 1),
                   -EBADMSG);
  assert_int_equal(
      decode_one((struct symbol_frame){.name = "a", .start = 2, .size = UINT64_MAX}, 2), -EBADMSG);
  /* Behind its code, and before it. */
  assert_int_equal(decode_one((struct symbol_frame){.name = "a", .start = 4, .size = 4}, 8),
                   -EBADMSG);
  assert_int_equal(decode_one((struct symbol_frame){.name = "a", .start = 4, .size = 4}, 3),
                   -EBADMSG);
}

/* Version 2, then only the text "a", then one function of that name. */
#define ONE_FUNCTION 2, 1, 1, 'a', 1, 1, 0, 0, 0

static int decode_bytes(const uint8_t *bytes, size_t len) {
  return decode(span_of(bytes, len), 1 << 20);
}

static void counts_are_believed_as_far_as_bytes_go(void **state) {
  static const uint8_t good[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 2, 1, 1, 0, 0, 0, 0};
  static const uint8_t places_of_none[] = {
      ONE_FUNCTION, 2, 1, 0xaa, 0xff, 0xff, 0x7f, 2, 1, 1, 0, 0, 0, 0};
  static const uint8_t frames_of_none[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 126, 1, 1, 0, 0, 0, 0};
  static const uint8_t no_frame[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 0, 1, 1, 0, 0, 0, 0};
  static const uint8_t no_function[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 2, 1, 1, 0, 7, 0, 0};
  static const uint8_t no_text[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 2, 1, 1, 0, 0, 7, 0};
  static const uint8_t same_as_none[] = {ONE_FUNCTION, 2, 1, 0xaa, 1, 3, 1, 0, 0, 0, 0, 0};
  static const uint8_t a_nameless_function[] = {2, 1, 1, 'a', 1, 0, 0, 0, 0};
  static const uint8_t texts_of_none[] = {2, 0xff, 0xff, 0x7f, 0};
  static const uint8_t a_long_id[] = {ONE_FUNCTION, 2, 0xff, 0x7f, 'x'};
  static const uint8_t a_quality[] = {ONE_FUNCTION, 7, 1, 0xaa, 0};
  (void)state;
  assert_int_equal(decode_bytes(good, sizeof good), 0);
  assert_int_equal(decode_bytes(places_of_none, sizeof places_of_none), -EBADMSG);
  assert_int_equal(decode_bytes(frames_of_none, sizeof frames_of_none), -EBADMSG);
  assert_int_equal(decode_bytes(no_frame, sizeof no_frame), -EBADMSG);
  assert_int_equal(decode_bytes(no_function, sizeof no_function), -EBADMSG);
  assert_int_equal(decode_bytes(no_text, sizeof no_text), -EBADMSG);
  assert_int_equal(decode_bytes(same_as_none, sizeof same_as_none), -EBADMSG);
  assert_int_equal(decode_bytes(a_nameless_function, sizeof a_nameless_function), -EBADMSG);
  assert_int_equal(decode_bytes(texts_of_none, sizeof texts_of_none), -EBADMSG);
  assert_int_equal(decode_bytes(a_long_id, sizeof a_long_id), -EBADMSG);
  assert_int_equal(decode_bytes(a_quality, sizeof a_quality), -EBADMSG);
}

/* As files of before lines were kept have it: quality, id, functions. */
static void functions_of_version_1_are_read(void **state) {
  static const uint8_t old[] = {1, 1, 1, 0xaa, 2, 0x20, 0x10, 4, 'm', 'a', 'i', 'n', 0x20, 8, 0};
  static const uint8_t of_none[] = {1, 1, 1, 0xaa, 0xff, 0xff, 0x7f, 1, 1, 0};
  static const uint8_t a_long_name[] = {1, 1, 1, 0xaa, 1, 1, 1, 0xff, 0x7f, 'x'};
  static const uint8_t of_no_size[] = {1, 1, 1, 0xaa, 1, 1, 0, 1, 'a'};
  static const uint8_t a_quality[] = {1, 2, 1, 0xaa, 0};
  struct arena arena;
  struct module_names *modules;
  uint32_t count;
  (void)state;
  arena_init(&arena, 1 << 20);
  assert_int_equal(function_names_decode(span_of(old, sizeof old), &arena, &modules, &count), 0);
  assert_int_equal(count, 1);
  assert_int_equal(modules[0].quality, NAMES_ALL);
  assert_int_equal(modules[0].count, 2);
  assert_string_equal(modules[0].places[0].frames[0].name, "main");
  assert_int_equal(modules[0].places[0].frames[0].start, 0x20);
  assert_int_equal(modules[0].places[1].frames[0].start, 0x40);
  assert_int_equal(modules[0].places[1].frames[0].size, 8);
  assert_string_equal(modules[0].places[1].frames[0].name, "");
  arena_fini(&arena);
  assert_int_equal(decode_bytes(of_none, sizeof of_none), -EBADMSG);
  assert_int_equal(decode_bytes(a_long_name, sizeof a_long_name), -EBADMSG);
  assert_int_equal(decode_bytes(of_no_size, sizeof of_no_size), -EBADMSG);
  assert_int_equal(decode_bytes(a_quality, sizeof a_quality), -EBADMSG);
}

static void a_later_version_and_too_much_are_told_apart(void **state) {
  struct buf payload = {0};
  (void)state;
  assert_int_equal(decode(span_of("\3 whatever it holds", 19), 1 << 20), -EPROTO);
  fill(&payload);
  assert_int_equal(decode(buf_span(&payload), 64), -EOVERFLOW);
  buf_fini(&payload);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(what_is_there_already_takes_little),
      cmocka_unit_test(a_payload_that_is_cut_is_refused),
      cmocka_unit_test(what_would_mislead_is_refused),
      cmocka_unit_test(counts_are_believed_as_far_as_bytes_go),
      cmocka_unit_test(functions_of_version_1_are_read),
      cmocka_unit_test(a_later_version_and_too_much_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
