/* SPDX-License-Identifier: Apache-2.0 */
/* The best of all names that files have for an address is found. */
#include "report/kept_names.h"

#include "common/buf.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct span tool = {(const uint8_t *)"\1\2\3\4", 4};

/* A function by itself; its place is where it begins. */
struct function {
  uint64_t start, size;
  const char *name;
};

static int add_payload(struct kept_names *kept, struct function_names *names) {
  struct buf payload = {0};
  function_names_end(names, &payload);
  int error = kept_names_add(kept, buf_span(&payload));
  buf_fini(&payload); /* no part of it is borrowed */
  return error;
}

static void add_of(struct kept_names *kept, enum names_quality quality,
                   const struct function *functions, uint32_t count) {
  struct function_names names = {.failed = false};
  function_names_begin(&names, tool, quality);
  for (uint32_t i = 0; i < count; i++) {
    const struct symbol_frame frame = {
        .name = functions[i].name, .start = functions[i].start, .size = functions[i].size};
    const struct place_name place = {frame.start, 1, &frame};
    function_names_add(&names, &place);
  }
  assert_int_equal(add_payload(kept, &names), 0);
}

static void add(struct kept_names *kept, const struct function *functions, uint32_t count) {
  add_of(kept, NAMES_ALL, functions, count);
}

static void sort(struct kept_names *kept) {
  assert_int_equal(kept_names_sort(kept), 0);
}

static const char *find(const struct kept_names *kept, struct span id, uint64_t address) {
  struct kept_match match;
  if (kept_names_find(kept, id, address, &match) != 0) return "(none)";
  return match.frames[match.count - 1].name;
}

/* As in version 1: each later start at the same address is one more nested function. */
static void the_innermost_function_is_found(void **state) {
  static const uint8_t functions[] =
      "\1\1\4\1\2\3\4\4\x80\2\x80\2\5outer\x40\x10\5inner\0\4\11innermost\xc0\3\1\4last";
  struct kept_names kept;
  (void)state;
  kept_names_init(&kept, 1);
  assert_int_equal(kept_names_add(&kept, span_of(functions, sizeof functions - 1)), 0);
  sort(&kept);
  assert_string_equal(find(&kept, tool, 0xff), "(none)");
  assert_string_equal(find(&kept, tool, 0x100), "outer");
  assert_string_equal(find(&kept, tool, 0x140), "innermost");
  assert_string_equal(find(&kept, tool, 0x143), "innermost");
  assert_string_equal(find(&kept, tool, 0x14f), "inner");
  assert_string_equal(find(&kept, tool, 0x1ff), "outer");
  assert_string_equal(find(&kept, tool, 0x200), "(none)");
  assert_string_equal(find(&kept, tool, 0x300), "last");
  assert_string_equal(find(&kept, tool, UINT64_MAX), "(none)");
  assert_string_equal(find(&kept, span_of("\1\2\3\5", 4), 0x100), "(none)");
  kept_names_fini(&kept);
}

static void the_best_word_counts_whichever_came_first(void **state) {
  static const struct function bounds[] = {
      {0x100, 0x10, ""}, {0x200, 0x10, ""}, {0x300, 0x20, ""}, {0x400, 0x10, ""}};
  static const struct function exported[] = {{0x100, 0x10, "exported"}, {0x200, 0x10, "only"}};
  static const struct function all[] = {{0x100, 0x10, "name"}, {0x300, 0x10, "shorter"}};
  static const struct function debug[] = {{0x100, 0x10, "source"}};
  struct kept_names kept;
  (void)state;
  for (int is_turned = 0; is_turned < 2; is_turned++) {
    kept_names_init(&kept, 7);
    if (is_turned) add_of(&kept, NAMES_DEBUG, debug, 1);
    if (is_turned) add(&kept, all, 2);
    add(&kept, bounds, 4);
    add_of(&kept, NAMES_EXPORTED, exported, 2);
    if (!is_turned) add(&kept, all, 2);
    if (!is_turned) add_of(&kept, NAMES_DEBUG, debug, 1);
    sort(&kept);
    assert_string_equal(find(&kept, tool, 0x100), "source");
    assert_string_equal(find(&kept, tool, 0x108), "source");
    assert_string_equal(find(&kept, tool, 0x208), "only");
    assert_string_equal(find(&kept, tool, 0x308), "shorter"); /* other bounds, but a name */
    assert_string_equal(find(&kept, tool, 0x318), "");
    assert_string_equal(find(&kept, tool, 0x408), "");
    kept_names_fini(&kept);
  }
}

/* `deep` was inlined at 0x110, according to another file of the sum; elsewhere that is unknown. */
static void what_was_inlined_is_known_where_it_was_sampled(void **state) {
  static const struct function functions[] = {{0x100, 0x40, "outer"}};
  const struct symbol_frame chain[] = {
      {"deep", false, "d.h", 3, "d.h", 1, 0x100, 0x40},
      {"outer", false, "a.c", 9, "a.c", 7, 0x100, 0x40},
  };
  const struct place_name place = {0x110, 2, chain};
  struct kept_names kept;
  struct kept_match match;
  (void)state;
  for (int is_turned = 0; is_turned < 2; is_turned++) {
    struct function_names names = {.failed = false};
    kept_names_init(&kept, 7);
    if (!is_turned) add(&kept, functions, 1);
    function_names_begin(&names, tool, NAMES_DEBUG);
    function_names_add(&names, &place);
    assert_int_equal(add_payload(&kept, &names), 0);
    if (is_turned) add(&kept, functions, 1);
    sort(&kept);
    assert_int_equal(kept_names_find(&kept, tool, 0x110, &match), 0);
    assert_true(match.is_whole);
    assert_int_equal(match.quality, NAMES_DEBUG);
    assert_int_equal(match.count, 2);
    assert_string_equal(match.frames[0].name, "deep");
    assert_string_equal(match.frames[0].file, "d.h");
    assert_int_equal(match.frames[1].line, 9);
    assert_int_equal(kept_names_find(&kept, tool, 0x111, &match), 0);
    assert_false(match.is_whole);
    assert_int_equal(match.count, 1);
    assert_string_equal(match.frames[0].name, "outer");
    kept_names_fini(&kept);
  }
}

/* Each file of a sum has the functions that were sampled in it. */
static void many_files_make_one_list(void **state) {
  struct kept_names kept;
  char name[16];
  (void)state;
  kept_names_init(&kept, 7);
  for (unsigned i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "f%u", i);
    const struct function functions[] = {{0x10, 0x10, i % 3 ? "" : "hot"},
                                         {0x100 + 16 * i, 0x10, name}};
    add_of(&kept, i % 2 ? NAMES_ALL : NAMES_EXPORTED, functions, 2);
    if (i % 100 == 0) sort(&kept);
  }
  sort(&kept);
  assert_int_equal(kept.module_count, 1);
  assert_string_equal(find(&kept, tool, 0x18), "hot");
  for (unsigned i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "f%u", i);
    assert_string_equal(find(&kept, tool, 0x10f + 16 * i), name);
  }
  kept_names_fini(&kept);
}

/* A day of runs of one program. */
static void a_file_that_says_the_same_takes_no_memory(void **state) {
  static const struct function functions[] = {{0x100, 0x100, "outer"}, {0x240, 0x10, "other"}};
  struct kept_names kept;
  (void)state;
  kept_names_init(&kept, 1);
  add(&kept, functions, 2);
  size_t used = kept.arena.used_bytes;
  for (int i = 0; i < 1000; i++) add(&kept, functions, 2);
  assert_int_equal(kept.arena.used_bytes, used);
  assert_int_equal(kept.place_count, 2);
  assert_int_equal(kept.function_count, 2);
  kept_names_fini(&kept);
}

static void a_bad_payload_adds_nothing(void **state) {
  struct kept_names kept;
  (void)state;
  kept_names_init(&kept, 1);
  assert_int_equal(kept_names_add(&kept, span_of("\1\1\1\xaa\1\1\0\0", 8)), -EBADMSG);
  assert_int_equal(kept_names_add(&kept, span_of("\3", 1)), -EPROTO);
  assert_int_equal(kept.module_count, 0);
  kept_names_fini(&kept);
}

/* Hostile input that repeats one id endlessly, or has many ids; as version 1, which accepts an
   empty module. */
static void repetition_costs_little(void **state) {
  struct kept_names kept;
  struct buf payload = {0};
  int error = 0;
  (void)state;
  kept_names_init(&kept, 1);
  buf_append_byte(&payload, 1);
  for (int i = 0; i < 60000; i++) buf_append(&payload, "\1\1\xaa\0", 4);
  assert_int_equal(kept_names_add(&kept, buf_span(&payload)), 0);
  assert_int_equal(kept.module_count, 1);
  for (uint32_t at = 0; error == 0; at++) {
    buf_clear(&payload);
    buf_append_byte(&payload, 1);
    for (uint32_t i = at * 60000; i < (at + 1) * 60000; i++) {
      buf_append(&payload, "\1\4", 2);
      buf_append(&payload, &i, sizeof i);
      buf_append_byte(&payload, 0);
    }
    error = kept_names_add(&kept, buf_span(&payload));
  }
  assert_int_equal(error, -EOVERFLOW);
  assert_int_equal(kept.module_count, KEPT_NAMES_MODULES_MAX);
  buf_fini(&payload);
  kept_names_fini(&kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_innermost_function_is_found),
      cmocka_unit_test(the_best_word_counts_whichever_came_first),
      cmocka_unit_test(what_was_inlined_is_known_where_it_was_sampled),
      cmocka_unit_test(many_files_make_one_list),
      cmocka_unit_test(a_file_that_says_the_same_takes_no_memory),
      cmocka_unit_test(a_bad_payload_adds_nothing),
      cmocka_unit_test(repetition_costs_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
