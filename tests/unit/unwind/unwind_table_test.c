/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into tables written by hand: three pages from 0x30000 on, of which the second has no row.
   Then into tables that are spoilt in every way, where a look may find anything but may load
   nothing outside of the table. */
#include "table_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BASE = 0x30000, PAGE = UNWIND_PAGE_BYTES };

static const struct table_row rows[] = {
    {BASE + 0x10, 0}, {BASE + 0x20, 1}, {BASE + PAGE - 1, 2}, {BASE + 2 * PAGE, 3}};
static const struct unwind_rule rules[] = {
    {.offset = 10}, {.offset = 11}, {.offset = 12}, {.offset = 13}};
static const struct table_fixture whole = {.base = BASE,
                                           .page_count = 3,
                                           .rows = rows,
                                           .row_count = sizeof rows / sizeof *rows,
                                           .rules = rules,
                                           .rule_count = sizeof rules / sizeof *rules};
static struct unwind_table *table;

static int setup(void **state) {
  (void)state;
  table = table_fixture_make(&whole);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  free(table);
  return 0;
}

static uint32_t *pages(void) {
  return (uint32_t *)(void *)(table + 1);
}

static struct unwind_row *first_row(void) {
  return (struct unwind_row *)(void *)(pages() + table->page_count + 1);
}

/* The offset in the rule at ADDRESS, or -1. */
static int at(uint64_t address) {
  const struct unwind_rule *rule = unwind_table_find(table, address);
  return rule == NULL ? -1 : rule->offset;
}

static int check(void) {
  return unwind_table_check(table, table->total_bytes, TABLE_MACHINE);
}

static void a_row_holds_up_to_the_next(void **state) {
  (void)state;
  assert_int_equal(check(), 0);
  assert_int_equal(at(BASE + 0x10), 10);
  assert_int_equal(at(BASE + 0x1f), 10);
  assert_int_equal(at(BASE + 0x20), 11);
  assert_int_equal(at(BASE + PAGE - 2), 11);
  assert_int_equal(at(BASE + PAGE - 1), 12);
  assert_int_equal(at(BASE + 2 * PAGE), 13);
  assert_int_equal(at(BASE + 3 * PAGE - 1), 13);
}

static void a_look_stays_in_its_page(void **state) {
  (void)state;
  assert_int_equal(at(BASE + 0xf), -1);
  assert_int_equal(at(BASE + PAGE), -1);
  assert_int_equal(at(BASE + PAGE + 0x20), -1);
  assert_int_equal(at(BASE + 2 * PAGE - 1), -1);
}

static void outside_of_the_pages_there_is_no_rule(void **state) {
  (void)state;
  static const uint64_t addresses[] = {0,
                                       BASE - 1,
                                       BASE - PAGE,
                                       BASE + 3 * PAGE,
                                       UINT64_C(1) << 32,
                                       UINT64_MAX,
                                       UINT64_MAX - 1,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX << UNWIND_PAGE_BITS};
  for (unsigned i = 0; i < sizeof addresses / sizeof *addresses; i++)
    assert_int_equal(at(addresses[i]), -1);
  table->base = UINT64_MAX << UNWIND_PAGE_BITS; /* the other pages are beyond all addresses */
  assert_int_equal(at(table->base + 0x20), 11);
  assert_int_equal(at(PAGE + 0x20), -1);
}

static void another_version_or_machine_is_told_apart_from_damage(void **state) {
  (void)state;
  assert_int_equal(unwind_table_check(table, table->total_bytes, TABLE_MACHINE + 1), -EPROTO);
  table->version++;
  assert_int_equal(check(), -EPROTO);
  table->magic++;
  assert_int_equal(check(), -EBADMSG);
}

static void a_table_is_refused_without_its_last_byte(void **state) {
  (void)state;
  assert_int_equal(unwind_table_check(table, table->total_bytes - 1u, TABLE_MACHINE), -EBADMSG);
  assert_int_equal(unwind_table_check(table, sizeof *table - 1, TABLE_MACHINE), -EBADMSG);
  assert_int_equal(unwind_table_check(table, 0, TABLE_MACHINE), -EBADMSG);
  assert_int_equal(unwind_table_check(table, table->total_bytes + 1u, TABLE_MACHINE), 0);
  struct unwind_table *start = malloc(sizeof *table / 2);
  assert_non_null(start);
  memcpy(start, table, sizeof *table / 2);
  assert_int_equal(unwind_table_check(start, sizeof *table / 2, TABLE_MACHINE), -EBADMSG);
  free(start);
}

/* The header of a table of so many pages, rows and rules, without the table. */
static int check_of(uint32_t page_count, uint32_t row_count, uint32_t rule_count) {
  struct unwind_table header = *table;
  header.page_count = page_count;
  header.row_count = row_count;
  header.rule_count = rule_count;
  header.rules_at = (uint32_t)sizeof header + 4 * (page_count + 1 + row_count);
  header.total_bytes = header.rules_at + 16 * rule_count;
  return unwind_table_check(&header, UINT64_MAX, TABLE_MACHINE);
}

static void a_table_larger_than_any_is_refused(void **state) {
  (void)state;
  assert_int_equal(check_of(UNWIND_PAGES_MAX, UNWIND_ROWS_MAX, UNWIND_RULES_MAX), 0);
  assert_int_equal(check_of(UNWIND_PAGES_MAX + 1, 1, 1), -EBADMSG);
  assert_int_equal(check_of(1, UNWIND_ROWS_MAX + 1, 1), -EBADMSG);
  assert_int_equal(check_of(1, 1, UNWIND_RULES_MAX + 1), -EBADMSG);
}

static void rules_that_are_not_aligned_are_refused(void **state) {
  (void)state;
  table->rules_at += 2;
  table->total_bytes += 2;
  assert_int_equal(check(), -EBADMSG);
}

static void counts_that_the_bytes_do_not_hold_are_refused(void **state) {
  (void)state;
  struct {
    uint32_t *field;
    uint32_t lie;
  } lies[] = {
      {&table->page_count, 0},
      {&table->page_count, 4},
      {&table->page_count, UNWIND_PAGES_MAX + 1},
      {&table->page_count, UINT32_MAX},
      {&table->row_count, whole.row_count + 1},
      {&table->row_count, UNWIND_ROWS_MAX + 1},
      {&table->row_count, UINT32_MAX},
      {&table->rule_count, whole.rule_count + 1},
      {&table->rule_count, UNWIND_RULES_MAX + 1},
      {&table->rule_count, UINT32_MAX},
      {&table->gap_count, 1},
      {&table->gap_count, UNWIND_GAPS_MAX + 1},
      {&table->gap_count, UINT32_MAX},
      {&table->rules_at, table->rules_at - 4},
      {&table->rules_at, table->rules_at + 2},
      {&table->rules_at, UINT32_MAX - 3},
      {&table->total_bytes, table->total_bytes - 4},
      {&table->total_bytes, UINT32_MAX},
  };
  uint32_t bytes = table->total_bytes;
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    uint32_t truth = *lies[i].field;
    *lies[i].field = lies[i].lie;
    assert_int_equal(unwind_table_check(table, bytes, TABLE_MACHINE), -EBADMSG);
    *lies[i].field = truth;
  }
  table->base++;
  assert_int_equal(check(), -EBADMSG);
}

static void a_spoilt_index_of_pages_leads_nowhere(void **state) {
  (void)state;
  pages()[0] = UINT32_MAX;
  assert_int_equal(at(BASE + 0x20), -1);
  pages()[0] = 3;
  pages()[1] = 1;
  assert_int_equal(at(BASE + 0x20), -1);
  pages()[2] = 0;
  pages()[3] = UINT32_MAX; /* as many as there are */
  assert_int_equal(at(BASE + 2 * PAGE + 0x20), 11);
  pages()[3] = 0; /* the next data is no page, but the first row */
  assert_int_equal(at(BASE + 3 * PAGE + 0x20), -1);
}

static void a_number_of_no_rule_is_none(void **state) {
  (void)state;
  first_row()[1].rule = (uint16_t)whole.rule_count;
  assert_int_equal(at(BASE + 0x20), -1);
  first_row()[1].rule = UINT16_MAX;
  assert_int_equal(at(BASE + 0x20), -1);
}

static void no_look_leaves_a_table_of_random_bytes(void **state) {
  (void)state;
  uint8_t *body = (uint8_t *)(table + 1);
  srand(1);
  for (unsigned round = 0; round < 2000; round++) {
    for (size_t i = 0; i < table->total_bytes - sizeof *table; i++)
      body[i] = (uint8_t)(round % 2 ? rand() : rand() % 5);
    for (unsigned i = 0; i < 50; i++) {
      const struct unwind_rule *rule =
          unwind_table_find(table, BASE + (unsigned)rand() % (4 * PAGE));
      if (rule == NULL) continue;
      const uint8_t *first = (const uint8_t *)rule;
      assert_true(first >= (uint8_t *)table + table->rules_at);
      assert_true(first + sizeof *rule <= (uint8_t *)table + table->total_bytes);
    }
  }
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_row_holds_up_to_the_next),
      CLAIM(a_look_stays_in_its_page),
      CLAIM(outside_of_the_pages_there_is_no_rule),
      CLAIM(another_version_or_machine_is_told_apart_from_damage),
      CLAIM(a_table_is_refused_without_its_last_byte),
      CLAIM(a_table_larger_than_any_is_refused),
      CLAIM(rules_that_are_not_aligned_are_refused),
      CLAIM(counts_that_the_bytes_do_not_hold_are_refused),
      CLAIM(a_spoilt_index_of_pages_leads_nowhere),
      CLAIM(a_number_of_no_rule_is_none),
      CLAIM(no_look_leaves_a_table_of_random_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
