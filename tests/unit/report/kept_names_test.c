/* SPDX-License-Identifier: Apache-2.0 */
/* Of all that files say about an address, the best is found. */
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

static void add_of(struct kept_names *kept, enum names_quality quality,
                   const struct function_name *functions, uint32_t count) {
  const struct module_names module = {tool, quality, count, functions};
  struct buf payload = {0};
  function_names_begin(&payload);
  function_names_append(&module, &payload);
  assert_int_equal(kept_names_add(kept, buf_span(&payload)), 0);
  buf_fini(&payload); /* nothing of it is borrowed */
}

static void add(struct kept_names *kept, const struct function_name *functions, uint32_t count) {
  add_of(kept, NAMES_ALL, functions, count);
}

static const char *find(const struct kept_names *kept, struct span id, uint64_t address) {
  struct symbol_match match;
  enum names_quality quality;
  return kept_names_find(kept, id, address, &match, &quality) == 0 ? match.name : "(none)";
}

static void the_innermost_function_is_found(void **state) {
  static const struct function_name functions[] = {
      {0x100, 0x100, "outer"}, {0x140, 0x10, "inner"}, {0x140, 4, "innermost"}, {0x300, 1, "last"}};
  struct kept_names kept;
  (void)state;
  kept_names_init(&kept, 1);
  add(&kept, functions, 4);
  assert_string_equal(find(&kept, tool, 0xff), "(none)");
  assert_string_equal(find(&kept, tool, 0x100), "outer");
  assert_string_equal(find(&kept, tool, 0x141), "innermost");
  assert_string_equal(find(&kept, tool, 0x14f), "inner");
  assert_string_equal(find(&kept, tool, 0x1ff), "outer");
  assert_string_equal(find(&kept, tool, 0x200), "(none)");
  assert_string_equal(find(&kept, tool, 0x300), "last");
  assert_string_equal(find(&kept, tool, UINT64_MAX), "(none)");
  assert_string_equal(find(&kept, span_of("\1\2\3\5", 4), 0x100), "(none)");
  kept_names_fini(&kept);
}

static void the_best_word_counts_whichever_came_first(void **state) {
  static const struct function_name bounds[] = {{0x100, 0x10, ""}, {0x200, 0x10, ""}};
  static const struct function_name exported[] = {{0x100, 0x10, "exported"}, {0x200, 0x10, "only"}};
  static const struct function_name all[] = {{0x100, 0x10, "name"}};
  struct kept_names kept;
  (void)state;
  for (int is_turned = 0; is_turned < 2; is_turned++) {
    kept_names_init(&kept, 7);
    if (is_turned) add(&kept, all, 1);
    add(&kept, bounds, 2);
    add_of(&kept, NAMES_EXPORTED, exported, 2);
    if (!is_turned) add(&kept, all, 1);
    assert_string_equal(find(&kept, tool, 0x108), "name");
    assert_string_equal(find(&kept, tool, 0x208), "only");
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
    const struct function_name functions[] = {{0x10, 0x10, i % 3 ? "" : "hot"},
                                              {0x100 + 16 * i, 0x10, name}};
    add_of(&kept, i % 2 ? NAMES_ALL : NAMES_EXPORTED, functions, 2);
  }
  assert_int_equal(kept.count, 1);
  assert_string_equal(find(&kept, tool, 0x18), "hot");
  for (unsigned i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "f%u", i);
    assert_string_equal(find(&kept, tool, 0x10f + 16 * i), name);
  }
  kept_names_fini(&kept);
}

static void a_bad_payload_adds_nothing(void **state) {
  struct kept_names kept;
  (void)state;
  kept_names_init(&kept, 1);
  assert_int_equal(kept_names_add(&kept, span_of("\1\1\1\xaa\1\1\0\0", 8)), -EBADMSG);
  assert_int_equal(kept_names_add(&kept, span_of("\2", 1)), -EPROTO);
  assert_int_equal(kept.count, 0);
  kept_names_fini(&kept);
}

/* Of a stranger who repeats one id without end, and of one who has many. */
static void repetition_costs_little(void **state) {
  struct kept_names kept;
  struct buf payload = {0};
  struct module_names module = {tool, NAMES_ALL, 0, NULL};
  int error = 0;
  (void)state;
  kept_names_init(&kept, 1);
  function_names_begin(&payload);
  for (int i = 0; i < 60000; i++) function_names_append(&module, &payload);
  assert_int_equal(kept_names_add(&kept, buf_span(&payload)), 0);
  assert_int_equal(kept.count, 1);
  buf_clear(&payload);
  function_names_begin(&payload);
  for (uint32_t i = 0; i < 60000; i++) {
    module.id = span_of(&i, sizeof i);
    function_names_append(&module, &payload);
  }
  for (int i = 0; i < 100 && error == 0; i++) error = kept_names_add(&kept, buf_span(&payload));
  assert_int_equal(error, -EOVERFLOW);
  buf_fini(&payload);
  kept_names_fini(&kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_innermost_function_is_found),
      cmocka_unit_test(the_best_word_counts_whichever_came_first),
      cmocka_unit_test(many_files_make_one_list),
      cmocka_unit_test(a_bad_payload_adds_nothing),
      cmocka_unit_test(repetition_costs_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
