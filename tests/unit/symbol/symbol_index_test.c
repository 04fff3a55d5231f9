/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "symbol/symbol_index.h"

#include <errno.h>

/* A small index laid out by hand: a [0x100,0x140), b [0x110,0x120) inside it, c [0x200,0x210). */
struct small {
  struct index_header header;
  struct index_section sections[4];
  struct index_symbol symbols[3];
  struct index_piece pieces[6];
  char strings[8];
};

static struct small make_small(void) {
  return (struct small){
      .header = {.magic = INDEX_MAGIC,
                 .version = INDEX_VERSION,
                 .order = INDEX_ORDER,
                 .file_bytes = sizeof(struct small),
                 .section_count = 4},
      .sections = {{99, 1, 0, 1},
                   {INDEX_SYMBOLS, sizeof(struct index_symbol), offsetof(struct small, symbols),
                    sizeof(struct index_symbol[3])},
                   {INDEX_PIECES, sizeof(struct index_piece), offsetof(struct small, pieces),
                    sizeof(struct index_piece[6])},
                   {INDEX_STRINGS, 1, offsetof(struct small, strings), 8}},
      .symbols = {{0x100, 0x40, 0, 0}, {0x110, 0x10, 2, 0}, {0x200, 0x10, 4, 0}},
      .pieces = {{0x100, 0, 0},
                 {0x110, 1, 0},
                 {0x120, 0, 0},
                 {0x140, INDEX_NO_SYMBOL, 0},
                 {0x200, 2, 0},
                 {0x210, INDEX_NO_SYMBOL, 0}},
      .strings = "a\0b\0long",
  };
}

static int parse(const struct small *small, struct symbol_index *ret) {
  return symbol_index_parse(span_of(small, sizeof *small), ret);
}

static void each_address_gets_its_symbol(void **state) {
  (void)state;
  struct small small = make_small();
  small.strings[7] = '\0';
  struct symbol_index index;
  assert_int_equal(parse(&small, &index), 0);
  assert_int_equal(symbol_index_verify(&index), 0);
  const struct {
    uint64_t address;
    const char *name;
  } truth[] = {{0, NULL},      {0xff, NULL},   {0x100, "a"},  {0x10f, "a"},      {0x110, "b"},
               {0x11f, "b"},   {0x120, "a"},   {0x13f, "a"},  {0x140, NULL},     {0x1ff, NULL},
               {0x200, "lon"}, {0x20f, "lon"}, {0x210, NULL}, {UINT64_MAX, NULL}};
  for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
    struct symbol_match match;
    int error = symbol_index_find(&index, truth[i].address, &match);
    assert_int_equal(error, truth[i].name != NULL ? 0 : -ENOENT);
    if (error == 0) assert_string_equal(match.name, truth[i].name);
  }
}

static void another_version_or_byte_order_is_told_apart_from_damage(void **state) {
  (void)state;
  struct symbol_index index;
  struct small small = make_small();
  small.strings[7] = '\0';
  small.header.version++;
  assert_int_equal(parse(&small, &index), -EPROTO);
  small = make_small();
  small.header.order = 0x04030201;
  assert_int_equal(parse(&small, &index), -EPROTO);
  small.header.magic[0] = 'x';
  assert_int_equal(parse(&small, &index), -EBADMSG);
}

static void a_truncated_index_is_refused(void **state) {
  (void)state;
  struct symbol_index index;
  struct small small = make_small();
  small.strings[7] = '\0';
  for (size_t len = 0; len < sizeof small; len++)
    assert_int_equal(symbol_index_parse(span_of(&small, len), &index), -EBADMSG);
}

static void tables_out_of_bounds_are_refused(void **state) {
  (void)state;
  struct symbol_index index;
  for (int section = 1; section < 4; section++) {
    for (int lie = 0; lie < 6; lie++) {
      struct small small = make_small();
      small.strings[7] = '\0';
      struct index_section *at = &small.sections[section];
      if (lie == 0) at->offset = UINT64_MAX - 7;
      if (lie == 1) at->bytes = UINT64_MAX;
      if (lie == 2) at->entry_bytes = 5;
      if (lie == 3) at->offset += 1;
      if (lie == 4) at->kind = 77;
      if (lie == 5) at->bytes += at->entry_bytes * 1000;
      assert_int_equal(parse(&small, &index), -EBADMSG);
    }
  }
  struct small small = make_small(); /* whose strings do not end */
  assert_int_equal(parse(&small, &index), -EBADMSG);
}

static void references_out_of_bounds_find_nothing_and_fail_the_check(void **state) {
  (void)state;
  struct symbol_index index;
  struct symbol_match match;
  struct small small = make_small();
  small.strings[7] = '\0';
  small.pieces[1].symbol = 3;
  small.symbols[2].name = 8;
  assert_int_equal(parse(&small, &index), 0);
  assert_int_equal(symbol_index_find(&index, 0x110, &match), -ENOENT);
  assert_int_equal(symbol_index_find(&index, 0x200, &match), -ENOENT);
  assert_int_equal(symbol_index_verify(&index), -EBADMSG);
}

static void the_check_finds_disorder_and_dirty_names(void **state) {
  (void)state;
  for (int lie = 0; lie < 7; lie++) {
    struct symbol_index index;
    struct small small = make_small();
    small.strings[7] = '\0';
    if (lie == 0) small.pieces[2].start = 0x110;
    if (lie == 1) small.symbols[2].start = 0;
    if (lie == 2) small.symbols[0].size = 0;
    if (lie == 3) small.symbols[0].size = UINT64_MAX;
    if (lie == 4) small.pieces[5].symbol = 2;
    if (lie == 5) small.strings[0] = '\n';
    if (lie == 6) small.pieces[3].symbol = 0; /* beyond the end of a */
    assert_int_equal(parse(&small, &index), 0);
    assert_int_equal(symbol_index_verify(&index), -EBADMSG);
  }
}

static void bytes_that_are_not_aligned_are_refused(void **state) {
  (void)state;
  struct symbol_index index;
  static _Alignas(8) uint8_t shifted[sizeof(struct small) + 1];
  struct small small = make_small();
  memcpy(shifted + 1, &small, sizeof small);
  assert_int_equal(symbol_index_parse(span_of(shifted + 1, sizeof small), &index), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_address_gets_its_symbol),
      cmocka_unit_test(another_version_or_byte_order_is_told_apart_from_damage),
      cmocka_unit_test(a_truncated_index_is_refused),
      cmocka_unit_test(tables_out_of_bounds_are_refused),
      cmocka_unit_test(references_out_of_bounds_find_nothing_and_fail_the_check),
      cmocka_unit_test(the_check_finds_disorder_and_dirty_names),
      cmocka_unit_test(bytes_that_are_not_aligned_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
