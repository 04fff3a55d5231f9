/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "symbol/symbol_set.h"

#include <errno.h>

enum { SECTION_END = 0x2000 };

static void add(struct symbol_set *set, uint64_t start, uint64_t size, enum symbol_rank rank,
                const char *name) {
  struct candidate candidate = {.start = start,
                                .size = size,
                                .limit = SECTION_END,
                                .name = span_of_string(name),
                                .rank = rank};
  assert_int_equal(symbol_set_add(set, &candidate), 0);
}

/* The name at ADDRESS, "" for none, found by a plain walk over the pieces. */
static const char *name_at(const struct symbol_set *set, uint64_t address) {
  static char name[64];
  uint32_t symbol = INDEX_NO_SYMBOL;
  for (uint32_t i = 0; i < set->piece_count && set->pieces[i].start <= address; i++)
    symbol = set->pieces[i].symbol;
  name[0] = '\0';
  if (symbol != INDEX_NO_SYMBOL)
    snprintf(name, sizeof name, "%.*s", (int)set->candidates[symbol].name.len,
             (const char *)set->candidates[symbol].name.data);
  return name;
}

static void the_better_of_two_aliases_gives_the_name(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 16, SYMBOL_LOCAL, "a");
  add(&set, 0x1000, 16, SYMBOL_WEAK, "b");
  add(&set, 0x1000, 16, SYMBOL_GLOBAL, "zz");
  add(&set, 0x1010, 16, SYMBOL_GLOBAL, "__longer");
  add(&set, 0x1010, 16, SYMBOL_GLOBAL, "a_much_longer_one");
  add(&set, 0x1020, 16, SYMBOL_GLOBAL, "bbb");
  add(&set, 0x1020, 16, SYMBOL_GLOBAL, "cc");
  add(&set, 0x1020, 16, SYMBOL_GLOBAL, "bc");
  add(&set, 0x1030, 16, SYMBOL_LABEL, "x");
  add(&set, 0x1030, 16, SYMBOL_LOCAL, "typed");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1000), "zz");
  assert_string_equal(name_at(&set, 0x1010), "a_much_longer_one");
  assert_string_equal(name_at(&set, 0x1020), "bc");
  assert_string_equal(name_at(&set, 0x1030), "typed");
  assert_int_equal(set.count, 4);
  assert_int_equal(set.alias_count, 6); /* the others are remembered */
  for (uint32_t i = 1; i < set.alias_count; i++)
    assert_true(set.aliases[i - 1].start <= set.aliases[i].start);
  symbol_set_fini(&set);
}

static void a_symbol_covers_its_bytes_and_no_more(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 16, SYMBOL_GLOBAL, "a");
  add(&set, 0x1020, 16, SYMBOL_GLOBAL, "b");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0xfff), "");
  assert_string_equal(name_at(&set, 0x100f), "a");
  assert_string_equal(name_at(&set, 0x1010), "");
  assert_string_equal(name_at(&set, 0x101f), "");
  assert_string_equal(name_at(&set, 0x102f), "b");
  assert_string_equal(name_at(&set, 0x1030), "");
  symbol_set_fini(&set);
}

static void bounds_without_a_name_count_where_no_symbol_does(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 0x20, SYMBOL_GLOBAL, "sized");
  add(&set, 0x1000, 0x40, SYMBOL_BOUNDS, "?same start");
  add(&set, 0x1010, 0x8, SYMBOL_BOUNDS, "?inside");
  add(&set, 0x1040, 0, SYMBOL_GLOBAL, "unsized");
  add(&set, 0x1040, 0x10, SYMBOL_BOUNDS, "?its size");
  add(&set, 0x1060, 0x40, SYMBOL_BOUNDS, "?alone");
  add(&set, 0x1070, 0x10, SYMBOL_LOCAL, "part");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1000), "sized");
  assert_string_equal(name_at(&set, 0x1012), "sized");
  assert_string_equal(name_at(&set, 0x1020), "");
  assert_string_equal(name_at(&set, 0x104f), "unsized");
  assert_string_equal(name_at(&set, 0x1050), "");
  assert_string_equal(name_at(&set, 0x106f), "?alone");
  assert_string_equal(name_at(&set, 0x1070), "part");
  assert_string_equal(name_at(&set, 0x1080), "?alone");
  assert_string_equal(name_at(&set, 0x10a0), "");
  symbol_set_fini(&set);
}

static void size_0_reaches_to_the_next_symbol_or_the_end_of_the_section(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 0, SYMBOL_GLOBAL, "a");
  add(&set, 0x1040, 0, SYMBOL_LABEL, "b");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x103f), "a");
  assert_string_equal(name_at(&set, 0x1040), "b");
  assert_string_equal(name_at(&set, SECTION_END - 1), "b");
  assert_string_equal(name_at(&set, SECTION_END), "");
  symbol_set_fini(&set);
}

static void size_0_beside_a_sized_symbol_is_only_an_alias(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 16, SYMBOL_LOCAL, "sized");
  add(&set, 0x1000, 0, SYMBOL_GLOBAL, "unsized");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1000), "sized");
  assert_string_equal(name_at(&set, 0x1010), "");
  symbol_set_fini(&set);
}

static void a_label_inside_a_function_does_not_rename_it(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 0x100, SYMBOL_GLOBAL, "function");
  add(&set, 0x1080, 0, SYMBOL_LABEL, "loop");
  add(&set, 0x10c0, 0, SYMBOL_GLOBAL, "second_entry");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1090), "function");
  assert_string_equal(name_at(&set, 0x10c0), "second_entry");
  assert_string_equal(name_at(&set, 0x10ff), "second_entry");
  assert_string_equal(name_at(&set, 0x1100), "");
  symbol_set_fini(&set);
}

static void the_smallest_symbol_that_covers_an_address_wins(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 0x100, SYMBOL_GLOBAL, "outer");
  add(&set, 0x1000, 0x20, SYMBOL_GLOBAL, "head");
  add(&set, 0x1040, 0x20, SYMBOL_GLOBAL, "nested");
  add(&set, 0x10e0, 0x200, SYMBOL_GLOBAL, "straddling");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1000), "head");
  assert_string_equal(name_at(&set, 0x1020), "outer");
  assert_string_equal(name_at(&set, 0x1050), "nested");
  assert_string_equal(name_at(&set, 0x1060), "outer");
  assert_string_equal(name_at(&set, 0x10e0), "outer"); /* 0x100 is less than 0x200 */
  assert_string_equal(name_at(&set, 0x1100), "straddling");
  assert_string_equal(name_at(&set, 0x12e0), "");
  symbol_set_fini(&set);
}

static void a_section_symbol_gives_way_to_any_real_one(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, 0x40, SYMBOL_SECTION, "[plt]");
  add(&set, 0x1000, 0, SYMBOL_GLOBAL, "real");
  add(&set, 0x1010, 0x10, SYMBOL_LABEL, "sized_label");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, 0x1000), "real");
  assert_string_equal(name_at(&set, 0x1010), "sized_label");
  assert_string_equal(name_at(&set, 0x1020), "[plt]");
  symbol_set_fini(&set);
}

static void a_lying_size_ends_with_the_section(void **state) {
  (void)state;
  struct symbol_set set = {0};
  add(&set, 0x1000, UINT64_MAX, SYMBOL_GLOBAL, "huge");
  add(&set, SECTION_END, 16, SYMBOL_GLOBAL, "outside");
  assert_int_equal(symbol_set_settle(&set), 0);
  assert_string_equal(name_at(&set, SECTION_END - 1), "huge");
  assert_string_equal(name_at(&set, SECTION_END), "");
  assert_int_equal(set.candidates[0].size, SECTION_END - 0x1000);
  symbol_set_fini(&set);
}

/* Every address against a plain search over all symbols. */
static void random_overlaps_match_a_plain_search(void **state) {
  (void)state;
  static char names[64][4];
  srandom(7);
  for (int round = 0; round < 200; round++) {
    struct symbol_set set = {0};
    for (int i = 0; i < 64; i++) {
      snprintf(names[i], sizeof names[i], "%c%c", 'a' + i / 8, 'a' + i % 8);
      add(&set, (uint64_t)(random() % 256), (uint64_t)(1 + random() % 64), SYMBOL_GLOBAL, names[i]);
    }
    assert_int_equal(symbol_set_settle(&set), 0);
    for (uint64_t address = 0; address < 400; address++) {
      const struct candidate *best = NULL;
      for (uint32_t i = 0; i < set.count; i++) {
        const struct candidate *at = &set.candidates[i];
        if (address < at->start || address - at->start >= at->size) continue;
        if (best == NULL || at->size < best->size ||
            (at->size == best->size && at->start > best->start))
          best = at;
      }
      assert_string_equal(name_at(&set, address),
                          best != NULL ? (const char *)best->name.data : "");
    }
    symbol_set_fini(&set);
  }
}

static void too_many_symbols_are_refused(void **state) {
  (void)state;
  struct symbol_set set = {.count = INDEX_SYMBOLS_MAX};
  assert_int_equal(symbol_set_add(&set, &(struct candidate){0}), -EOVERFLOW);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_better_of_two_aliases_gives_the_name),
      cmocka_unit_test(a_symbol_covers_its_bytes_and_no_more),
      cmocka_unit_test(bounds_without_a_name_count_where_no_symbol_does),
      cmocka_unit_test(size_0_reaches_to_the_next_symbol_or_the_end_of_the_section),
      cmocka_unit_test(size_0_beside_a_sized_symbol_is_only_an_alias),
      cmocka_unit_test(a_label_inside_a_function_does_not_rename_it),
      cmocka_unit_test(the_smallest_symbol_that_covers_an_address_wins),
      cmocka_unit_test(a_section_symbol_gives_way_to_any_real_one),
      cmocka_unit_test(a_lying_size_ends_with_the_section),
      cmocka_unit_test(random_overlaps_match_a_plain_search),
      cmocka_unit_test(too_many_symbols_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
