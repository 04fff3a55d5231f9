/* SPDX-License-Identifier: Apache-2.0 */
/* A lookup finds the functions that readers add, in any order and with any overlap. */
#include "tables/table_rows.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MACHINE = 62, PAGE = UNWIND_PAGE_BYTES, LOW = 0x11000, BYTES = 0x80000 };

struct made {
  struct table_rows *rows;
  struct buf bytes;
};

static int set_up(void **state) {
  struct made *made = calloc(1, sizeof *made);
  assert_non_null(made);
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{LOW, LOW + BYTES}}}, &made->rows), 0);
  table_rows_source(made->rows, UNWIND_EH_FRAME);
  *state = made;
  return 0;
}

static int tear_down(void **state) {
  struct made *made = *state;
  table_rows_free(made->rows);
  buf_fini(&made->bytes);
  free(made);
  return 0;
}

static struct unwind_rule sp_plus(int offset) {
  return (struct unwind_rule){.cfa = UNWIND_CFA_SP, .offset = offset, .return_address = -8};
}

static void put(struct made *made, uint64_t address, int offset) {
  struct unwind_rule rule = sp_plus(offset);
  assert_int_equal(table_rows_put(made->rows, address, &rule), 0);
}

/* A function of one rule. */
static void tell(struct made *made, uint64_t start, uint64_t end, int offset) {
  assert_int_equal(table_rows_function(made->rows, start, end), 0);
  put(made, start, offset);
}

static const struct unwind_table *encode(struct made *made) {
  assert_int_equal(table_rows_encode(made->rows, MACHINE, &made->bytes), 0);
  const struct unwind_table *table = (const void *)made->bytes.data;
  assert_int_equal(table->total_bytes, made->bytes.len);
  assert_int_equal(unwind_table_check(table, made->bytes.len, MACHINE), 0);
  return table;
}

/* The offset that the table has at ADDRESS; INT_MIN: none. */
static int at(const struct unwind_table *table, uint64_t address) {
  const struct unwind_rule *rule = unwind_table_find(table, address);
  return rule == NULL || rule->cfa != UNWIND_CFA_SP ? INT_MIN : rule->offset;
}

static void functions_told_in_any_order_are_found(void **state) {
  struct made *made = *state;
  tell(made, 0x13000, 0x13010, 3);
  tell(made, 0x11000, 0x11010, 1);
  put(made, 0x11004, 2);
  tell(made, 0x12000, 0x12010, 4);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x11003), 1);
  assert_int_equal(at(table, 0x11004), 2);
  assert_int_equal(at(table, 0x1100f), 2);
  assert_int_equal(at(table, 0x11010), INT_MIN);
  assert_int_equal(at(table, 0x11fff), INT_MIN);
  assert_int_equal(at(table, 0x12000), 4);
  assert_int_equal(at(table, 0x1300f), 3);
  assert_int_equal(at(table, 0x13010), INT_MIN);
  assert_int_equal(table->sources, UNWIND_EH_FRAME);
}

static void what_reaches_into_a_page_is_said_again_there(void **state) {
  struct made *made = *state;
  tell(made, 0x1fff0, 0x1fff0 + 3 * PAGE, 7);
  put(made, 0x20000 + 2 * PAGE, 9);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x1ffef), INT_MIN);
  assert_int_equal(at(table, 0x1fff0), 7);
  assert_int_equal(at(table, 0x20000), 7);
  assert_int_equal(at(table, 0x20000 + 2 * PAGE - 1), 7);
  assert_int_equal(at(table, 0x20000 + 2 * PAGE), 9);
  assert_int_equal(at(table, 0x1ffef + 3 * PAGE), 9);
  assert_int_equal(at(table, 0x1fff0 + 3 * PAGE), INT_MIN);
  assert_int_equal(at(table, 0x20000 + 3 * PAGE), INT_MIN);
}

static void neighbours_of_one_rule_are_one_row(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x12010, 8);
  tell(made, 0x12010, 0x12020, 8);
  put(made, 0x12018, 8);
  const struct unwind_table *table = encode(made);
  assert_int_equal(table->row_count, 2); /* that, and nothing behind it */
  assert_int_equal(at(table, 0x1201f), 8);
}

static void a_second_rule_for_an_address_takes_its_place(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x12020, 8);
  put(made, 0x12004, 16);
  put(made, 0x12004, 8);
  put(made, 0x12004, 24);
  put(made, 0x12008, 32);
  put(made, 0x12008, 24);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x12003), 8);
  assert_int_equal(at(table, 0x12004), 24);
  assert_int_equal(at(table, 0x12008), 24);
  assert_int_equal(table->row_count, 3);
}

static void of_two_that_overlap_the_earlier_told_stays(void **state) {
  struct made *made = *state;
  tell(made, 0x12008, 0x12018, 1);
  tell(made, 0x12000, 0x12009, 2);
  tell(made, 0x12010, 0x12020, 3);
  tell(made, 0x12018, 0x12020, 4);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x12000), INT_MIN);
  assert_int_equal(at(table, 0x12008), 1);
  assert_int_equal(at(table, 0x12017), 1);
  assert_int_equal(at(table, 0x12018), 4);
  assert_int_equal(table_rows_left(made->rows), 2);
}

static void a_worse_source_tells_only_what_no_better_one_has(void **state) {
  struct made *made = *state;
  tell(made, 0x13000, 0x13010, 1);
  tell(made, 0x12000, 0x12010, 1);
  table_rows_source(made->rows, UNWIND_DEBUG_FRAME);
  assert_int_equal(table_rows_room(made->rows, 0x12010), 0xff0);
  assert_int_equal(table_rows_room(made->rows, 0x1200f), 0);
  assert_int_equal(table_rows_function(made->rows, 0x1200f, 0x12020), -EEXIST);
  assert_int_equal(table_rows_function(made->rows, 0x12fff, 0x13001), -EEXIST);
  assert_int_equal(table_rows_function(made->rows, 0x11000, 0x14000), -EEXIST);
  tell(made, 0x12010, 0x13000, 2);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x1200f), 1);
  assert_int_equal(at(table, 0x12010), 2);
  assert_int_equal(at(table, 0x13000), 1);
  assert_int_equal(table->sources, UNWIND_EH_FRAME | UNWIND_DEBUG_FRAME);
  assert_int_equal(table_rows_left(made->rows), 3);
}

static void a_dropped_function_leaves_nothing(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x12010, 1);
  tell(made, 0x12010, 0x12020, 2);
  put(made, 0x12018, 3);
  table_rows_drop(made->rows);
  table_rows_drop(made->rows);
  assert_int_equal(table_rows_put(made->rows, 0x12018, &(struct unwind_rule){0}), -EINVAL);
  tell(made, 0x12020, 0x12030, 4);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x1200f), 1);
  assert_int_equal(at(table, 0x12010), INT_MIN);
  assert_int_equal(at(table, 0x12018), INT_MIN);
  assert_int_equal(at(table, 0x12020), 4);
}

static void a_function_without_a_rule_at_its_start_begins_unknown(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x12010, 1);
  assert_int_equal(table_rows_function(made->rows, 0x12010, 0x12020), 0);
  put(made, 0x12018, 2);
  assert_int_equal(table_rows_function(made->rows, 0x12020, 0x12030), 0); /* and none at all */
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x12010), INT_MIN);
  assert_int_equal(at(table, 0x12018), 2);
  assert_int_equal(at(table, 0x12020), INT_MIN);
}

static void places_outside_are_refused(void **state) {
  struct made *made = *state;
  struct unwind_rule rule = sp_plus(8);
  struct table_rows *none = NULL;
  assert_int_equal(table_rows_function(made->rows, 0x10fff, 0x12000), -ERANGE);
  assert_int_equal(table_rows_function(made->rows, LOW, LOW + BYTES + 1), -ERANGE);
  assert_int_equal(table_rows_function(made->rows, 0x12000, 0x12000), -ERANGE);
  assert_int_equal(table_rows_function(made->rows, 0x12010, 0x12000), -ERANGE);
  assert_int_equal(table_rows_put(made->rows, 0x12000, &rule), -EINVAL);
  tell(made, 0x12000, 0x12010, 1);
  assert_int_equal(table_rows_put(made->rows, 0x12010, &rule), -EINVAL);
  put(made, 0x12008, 2);
  assert_int_equal(table_rows_put(made->rows, 0x12007, &rule), -EINVAL);
  assert_int_equal(table_rows_new(&(struct code_ranges){0}, &none), -EINVAL);
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{0, (UINT64_C(1) << 32) + 1}}}, &none),
                   -EOVERFLOW);
}

static void nothing_told_is_no_table(void **state) {
  struct made *made = *state;
  assert_int_equal(table_rows_encode(made->rows, MACHINE, &made->bytes), -ENODATA);
  assert_int_equal(table_rows_function(made->rows, 0x12000, 0x12010), 0);
  assert_int_equal(table_rows_encode(made->rows, MACHINE, &made->bytes), -ENODATA);
}

/* Spreads over PAGES: the first function of BYTES and one more in the last page. */
static int encode_sparse(struct made *made, uint64_t pages, uint64_t bytes) {
  uint64_t end = pages * UNWIND_PAGE_BYTES;
  table_rows_free(made->rows);
  buf_clear(&made->bytes);
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{0, end}}}, &made->rows), 0);
  table_rows_source(made->rows, UNWIND_EH_FRAME);
  tell(made, 0, bytes, 1);
  tell(made, end - 16, end, 2);
  return table_rows_encode(made->rows, MACHINE, &made->bytes);
}

static void pages_without_rows_make_no_large_table(void **state) {
  struct made *made = *state;
  const uint64_t most = TABLE_ROWS_SPARSE_PAGES_MAX;
  assert_int_equal(encode_sparse(made, most, 16), 0);
  assert_int_equal(encode_sparse(made, most + 1, 16), -ENOSPC);
  assert_int_equal(made->bytes.len, 0);
  assert_int_equal(encode_sparse(made, most + 1, most * UNWIND_PAGE_BYTES), 0);
  assert_int_equal(at((const void *)made->bytes.data, most / 2 * UNWIND_PAGE_BYTES), 1);
}

/* The same for the module's ADDRESS, in a segment at [LOW, HIGH). */
static int at_far(const struct unwind_table *table, uint64_t low, uint64_t high, uint64_t address) {
  uint64_t place;
  if (!table_rows_place(table, low, high, &place)) return INT_MIN;
  return at(table, place + (address - low));
}

static const struct code_ranges far_apart = {
    3,
    {{0x11100, 0x12010}, {0x40013f00, 0x40015000}, {UINT64_C(1) << 46, (UINT64_C(1) << 46) + 64}}};

static void set_far(struct made *made) {
  table_rows_free(made->rows);
  assert_int_equal(table_rows_new(&far_apart, &made->rows), 0);
  table_rows_source(made->rows, UNWIND_EH_FRAME);
}

static void code_far_apart_has_one_small_table(void **state) {
  struct made *made = *state;
  const uint64_t third = far_apart.ranges[2].low;
  set_far(made);
  tell(made, third, third + 64, 3);
  tell(made, 0x11100, 0x12010, 1);
  tell(made, 0x40013f00, 0x40014100, 2);
  const struct unwind_table *table = encode(made);
  assert_int_equal(table->page_count, 5);
  assert_true(made->bytes.len < 512);
  assert_int_equal(at_far(table, 0x11000, 0x13000, 0x11100), 1);
  assert_int_equal(at_far(table, 0x11000, 0x13000, 0x1200f), 1);
  assert_int_equal(at_far(table, 0x11000, 0x13000, 0x12010), INT_MIN);
  assert_int_equal(at_far(table, 0x40013000, 0x40015000, 0x40013f00), 2);
  assert_int_equal(at_far(table, 0x40013000, 0x40015000, 0x400140ff), 2);
  assert_int_equal(at_far(table, 0x40013000, 0x40015000, 0x40014100), INT_MIN);
  assert_int_equal(at_far(table, third, third + 0x1000, third + 63), 3);
  /* Mapped by a kernel with larger pages. */
  assert_int_equal(at_far(table, 0x40010000, 0x40020000, 0x40013f80), 2);
  assert_int_equal(at_far(table, third, third + 0x10000, third), 3);
  /* No code that the table was made of. */
  assert_int_equal(at_far(table, 0x20000, 0x21000, 0x20000), INT_MIN);
  assert_int_equal(at_far(table, 0x10000, 0x11000, 0x10ff0), INT_MIN);
  assert_int_equal(at_far(table, UINT64_MAX - 0xfff, UINT64_MAX, UINT64_MAX - 8), INT_MIN);
}

static void what_is_free_is_never_between_far_code(void **state) {
  struct made *made = *state;
  set_far(made);
  tell(made, 0x11100, 0x11200, 1);
  tell(made, 0x11f00, 0x12010, 2);
  tell(made, 0x40013f00, 0x40014000, 3);
  table_rows_source(made->rows, UNWIND_DEBUG_FRAME);
  assert_int_equal(table_rows_free_from(made->rows, 0), 0x11200);
  assert_int_equal(table_rows_room(made->rows, 0x11200), 0xd00);
  assert_int_equal(table_rows_free_from(made->rows, 0x11f00), 0x40014000);
  assert_int_equal(table_rows_room(made->rows, 0x40014000), 0x1000);
  assert_int_equal(table_rows_free_from(made->rows, 0x20000), 0x40014000);
  assert_int_equal(table_rows_room(made->rows, 0x20000), 0);
  assert_int_equal(table_rows_free_from(made->rows, 0x40015000), far_apart.ranges[2].low);
  assert_int_equal(table_rows_free_from(made->rows, UINT64_MAX), far_apart.ranges[2].high);
  assert_int_equal(table_rows_function(made->rows, 0x11300, 0x40013f00), -ERANGE);
  assert_int_equal(table_rows_function(made->rows, 0x20000, 0x20010), -ERANGE);
  assert_int_equal(table_rows_function(made->rows, 0x11300, 0x11400), 0);
  struct unwind_rule rule = sp_plus(8);
  assert_int_equal(table_rows_put(made->rows, 0x20000, &rule), -EINVAL);
  assert_int_equal(table_rows_put(made->rows, 0x40014000, &rule), -EINVAL);
}

/* The byte before it belongs to other code, far away. */
static void the_return_from_a_signal_that_begins_far_code_does_not_begin_early(void **state) {
  struct made *made = *state;
  const struct code_ranges code = {2, {{0x11000, 0x12000}, {0x40000000, 0x40001000}}};
  const struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
  table_rows_free(made->rows);
  assert_int_equal(table_rows_new(&code, &made->rows), 0);
  table_rows_source(made->rows, UNWIND_EH_FRAME);
  tell(made, 0x11000, 0x12000, 1);
  assert_int_equal(table_rows_function(made->rows, 0x40000000, 0x40000010), 0);
  assert_int_equal(table_rows_put(made->rows, 0x40000000, &signal), 0);
  assert_int_equal(at_far(encode(made), 0x11000, 0x12000, 0x11fff), 1);
}

static void more_rules_than_fit_are_untold(void **state) {
  struct made *made = *state;
  assert_int_equal(table_rows_function(made->rows, 0x11000, LOW + 2 * UNWIND_RULES_MAX), 0);
  for (int i = 0; i < UNWIND_RULES_MAX + 10; i++) put(made, 0x11000 + (uint64_t)i, 8 * i);
  const struct unwind_table *table = encode(made);
  int found = 0, untold = 0;
  for (int i = 0; i < UNWIND_RULES_MAX + 10; i++) {
    const struct unwind_rule *rule = unwind_table_find(table, 0x11000 + (uint64_t)i);
    assert_non_null(rule);
    found += rule->cfa == UNWIND_CFA_SP && rule->offset == 8 * i;
    untold += rule->cfa == UNWIND_CFA_UNTOLD;
  }
  assert_int_equal(found + untold, UNWIND_RULES_MAX + 10);
  assert_true(found > UNWIND_RULES_MAX - 200);
  assert_true(table->untold_rows >= 1);
}

/* Four thousand random functions against a plain array of rules by address. */
static void many_random_functions_are_as_an_array_has_them(void **state) {
  struct made *made = *state;
  int *expected = calloc(BYTES, sizeof *expected);
  assert_non_null(expected);
  srandom(20261122);
  for (unsigned i = 0; i < 4000; i++) {
    unsigned start = (unsigned)random() % (BYTES - 600), len = 1 + (unsigned)random() % 500;
    bool is_free = true;
    for (unsigned a = start; a < start + len; a++) is_free = is_free && expected[a] == 0;
    if (!is_free) continue;
    assert_int_equal(table_rows_function(made->rows, 0x11000 + start, 0x11000 + start + len), 0);
    for (unsigned a = start; a < start + len; a += 1 + (unsigned)random() % 64) {
      int offset = 8 * (1 + (int)((unsigned)random() % 5));
      put(made, 0x11000 + a, offset);
      for (unsigned b = a; b < start + len; b++) expected[b] = offset;
    }
  }
  const struct unwind_table *table = encode(made);
  for (unsigned a = 0; a < BYTES; a++)
    assert_int_equal(at(table, 0x11000 + a), expected[a] == 0 ? INT_MIN : expected[a]);
  free(expected);
}

static void tell_return(struct made *made, uint64_t start) {
  const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
  assert_int_equal(table_rows_function(made->rows, start, start + 8), 0);
  assert_int_equal(table_rows_put(made->rows, start, &rule), 0);
}

static void assert_return_from(const struct unwind_table *table, uint64_t start) {
  const struct unwind_rule *before = unwind_table_find(table, start - 1);
  assert_true(before == NULL || before->cfa != UNWIND_CFA_SIGNAL);
  for (uint64_t address = start; address < start + 8; address++)
    assert_int_equal(unwind_table_find(table, address)->cfa, UNWIND_CFA_SIGNAL);
}

static void the_return_from_a_handler_begins_one_byte_early(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x12010, 1); /* a neighbour */
  tell_return(made, 0x12010);
  tell(made, 0x13000, 0x13010, 1); /* its last byte has another rule */
  put(made, 0x1300f, 2);
  tell_return(made, 0x13010);
  tell(made, 0x14000, 0x1400f, 1); /* ends right there */
  tell_return(made, 0x14010);
  tell_return(made, 0x15000); /* at a page's start, behind nothing */
  tell(made, 0x16f00, 0x17000, 1);
  tell_return(made, 0x17000); /* and behind a neighbour */
  tell_return(made, LOW);     /* no code precedes it */
  const struct unwind_table *table = encode(made);
  static const uint64_t starts[] = {0x12010, 0x13010, 0x14010, 0x15000, 0x17000};
  for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
    assert_return_from(table, starts[i] - 1);
    assert_int_equal(at(table, starts[i] + 8), INT_MIN);
  }
  assert_return_from(table, LOW);
  assert_int_equal(at(table, 0x1200e), 1);
  assert_int_equal(at(table, 0x1300e), 1);
  assert_int_equal(at(table, 0x1400e), 1);
  assert_int_equal(at(table, 0x16ffe), 1);
}

static void one_that_begins_early_already_does_not_again(void **state) {
  struct made *made = *state;
  tell(made, 0x12000, 0x1200f, 1);
  tell_return(made, 0x1200f);
  const struct unwind_table *table = encode(made);
  assert_int_equal(at(table, 0x1200e), 1);
  assert_return_from(table, 0x1200f);
}

static void what_the_byte_before_a_handlers_return_said_is_not_counted(void **state) {
  const struct unwind_rule untold = {.cfa = UNWIND_CFA_UNTOLD};
  struct made *made = *state;
  tell(made, 0x12000, 0x12010, 1);
  assert_int_equal(table_rows_put(made->rows, 0x1200f, &untold), 0);
  tell_return(made, 0x12010);
  assert_int_equal(encode(made)->untold_rows, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      CLAIM(the_return_from_a_handler_begins_one_byte_early),
      CLAIM(one_that_begins_early_already_does_not_again),
      CLAIM(what_the_byte_before_a_handlers_return_said_is_not_counted),
      CLAIM(functions_told_in_any_order_are_found),
      CLAIM(what_reaches_into_a_page_is_said_again_there),
      CLAIM(neighbours_of_one_rule_are_one_row),
      CLAIM(a_second_rule_for_an_address_takes_its_place),
      CLAIM(of_two_that_overlap_the_earlier_told_stays),
      CLAIM(a_worse_source_tells_only_what_no_better_one_has),
      CLAIM(a_dropped_function_leaves_nothing),
      CLAIM(a_function_without_a_rule_at_its_start_begins_unknown),
      CLAIM(places_outside_are_refused),
      CLAIM(nothing_told_is_no_table),
      CLAIM(pages_without_rows_make_no_large_table),
      CLAIM(code_far_apart_has_one_small_table),
      CLAIM(what_is_free_is_never_between_far_code),
      CLAIM(the_return_from_a_signal_that_begins_far_code_does_not_begin_early),
      CLAIM(more_rules_than_fit_are_untold),
      CLAIM(many_random_functions_are_as_an_array_has_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
