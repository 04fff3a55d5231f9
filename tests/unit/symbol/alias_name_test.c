/* SPDX-License-Identifier: Apache-2.0 */
/* Names that an index does not give are known again by it. */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/alias_name.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

enum { CODE_BYTES_MAX = 4096 };

static const char source[] = "int pad(int x) { return x * 3; }\n"
                             "int plain(int x) { return x / 7; }\n"
                             "int _other(int x) __attribute__((alias(\"plain\")));\n"
                             "int __third(int x) __attribute__((weak, alias(\"plain\")));\n";

static void the_names_that_lost_are_known_again(void **state) {
  (void)state;
  const struct symbol_frame plain = {.name = "plain"}, other = {.name = "_other"},
                            third = {.name = "__third"}, pad = {.name = "pad"};
  struct buf bytes = {0};
  struct index_summary summary;
  struct symbol_index index;
  unsigned seen[2] = {0};
  char why[256];
  fixture_write("alias.c", source, sizeof source - 1);
  fixture_run("cc -O1 -fPIC -shared -nostdlib -o alias.so alias.c");
  struct span file = fixture_read("alias.so");
  assert_int_equal(index_builder_build(file, INDEX_ALL, &bytes, &summary, why, sizeof why), 0);
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &index), 0);
  assert_int_equal(symbol_index_verify(&index), 0);
  for (uint64_t at = index.blocks[0].address; at < index.blocks[0].address + CODE_BYTES_MAX; at++) {
    struct symbol_match match;
    if (symbol_index_find(&index, at, &match) != 0) continue;
    bool is_plain = strcmp(match.name, "plain") == 0;
    if (!is_plain) assert_string_equal(match.name, "pad");
    assert_int_equal(alias_name_is(&index, at, &other), is_plain);
    assert_int_equal(alias_name_is(&index, at, &third), is_plain);
    assert_false(alias_name_is(&index, at, &plain));
    assert_false(alias_name_is(&index, at, &pad));
    seen[is_plain]++;
  }
  assert_true(seen[0] > 0 && seen[1] > 0);
  symbol_index_fini(&index);
  buf_fini(&bytes);
  fixture_free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_names_that_lost_are_known_again),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
