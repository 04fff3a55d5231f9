/* SPDX-License-Identifier: Apache-2.0 */
/* On memory in the form of the kernel's ring, unchanged and as modified by an attacker. */
#include "perf/perf_exits.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, RECORD = 56 };

static struct perf_event_mmap_page *page;
static struct perf_exits exits;

static int make(void **state) {
  (void)state;
  page = calloc(2, PAGE);
  memset(&exits, 0, sizeof exits);
  exits.ring =
      (struct perf_ring){.fd = -1, .map = page, .data = (uint8_t *)page + PAGE, .data_bytes = PAGE};
  exits.pages = 1;
  return page == NULL;
}

static int unmake(void **state) {
  (void)state;
  free(page);
  return 0;
}

/* As the kernel does: at its head, running over the end. */
static void write_record(uint32_t type, uint32_t pid, uint32_t tid, uint64_t count) {
  struct {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t count, trailer[4];
  } record = {{type, 0, RECORD}, pid, tid, count, {0, 777, 42, 42}};
  const uint8_t *bytes = (const uint8_t *)&record;
  assert_int_equal(sizeof record, RECORD);
  for (unsigned i = 0; i < RECORD; i++) exits.ring.data[(page->data_head + i) % PAGE] = bytes[i];
  page->data_head += RECORD;
}

static void each_end_comes_once_with_what_it_spent(void **state) {
  (void)state;
  struct perf_exit end;
  write_record(PERF_RECORD_READ, 11, 11, 4000000);
  write_record(PERF_RECORD_READ, 11, 12, 3000000);
  perf_exits_mark(&exits);
  assert_true(perf_exits_next(&exits, &end));
  assert_int_equal(end.pid, 11);
  assert_int_equal(end.tid, 11);
  assert_int_equal(end.cpu_ns, 4000000);
  assert_true(perf_exits_next(&exits, &end));
  assert_int_equal(end.tid, 12);
  assert_false(perf_exits_next(&exits, &end));
  assert_int_equal(page->data_tail, page->data_head);
}

static void what_comes_after_the_mark_waits(void **state) {
  (void)state;
  struct perf_exit end;
  perf_exits_mark(&exits);
  write_record(PERF_RECORD_READ, 11, 11, 1);
  assert_false(perf_exits_next(&exits, &end));
  perf_exits_mark(&exits);
  assert_true(perf_exits_next(&exits, &end));
}

static void records_over_the_end_of_the_ring_are_whole(void **state) {
  (void)state;
  struct perf_exit end;
  for (uint64_t i = 0; i < 1000; i++) {
    write_record(PERF_RECORD_READ, 7, 8, i);
    perf_exits_mark(&exits);
    assert_true(perf_exits_next(&exits, &end));
    assert_int_equal(end.cpu_ns, i);
  }
}

static void a_damaged_record_costs_itself_alone(void **state) {
  (void)state;
  struct perf_exit end;
  write_record(PERF_RECORD_READ, 7, 8, 1);
  write_record(PERF_RECORD_READ, 7, 9, 2);
  memset(exits.ring.data, 0xff, RECORD - 3);
  perf_exits_mark(&exits);
  assert_true(perf_exits_next(&exits, &end));
  assert_int_equal(end.tid, 9);
  assert_false(perf_exits_next(&exits, &end));
}

static void ends_without_room_are_counted(void **state) {
  (void)state;
  struct perf_exit end;
  write_record(PERF_RECORD_LOST, 42, 0, 17);
  perf_exits_mark(&exits);
  assert_false(perf_exits_next(&exits, &end));
  assert_int_equal(exits.lost, 17);
}

static void a_head_that_cannot_be_is_not_followed(void **state) {
  (void)state;
  struct perf_exit end;
  page->data_head = 1ULL << 30;
  perf_exits_mark(&exits);
  assert_false(perf_exits_next(&exits, &end));
  page->data_head = 5; /* back again */
  perf_exits_mark(&exits);
  assert_false(perf_exits_next(&exits, &end));
  page->data_head = 5 + RECORD + 7; /* no whole number of records */
  perf_exits_mark(&exits);
  assert_false(perf_exits_next(&exits, &end));
  assert_int_equal((uint32_t)exits.tail, 5 + RECORD);
}

static void without_a_ring_there_is_nothing(void **state) {
  (void)state;
  struct perf_exit end;
  exits.ring.map = NULL;
  assert_int_equal(perf_exits_mark(&exits), 0);
  assert_false(perf_exits_next(&exits, &end));
  perf_exits_close(&exits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(each_end_comes_once_with_what_it_spent),
      TEST(what_comes_after_the_mark_waits),
      TEST(records_over_the_end_of_the_ring_are_whole),
      TEST(a_damaged_record_costs_itself_alone),
      TEST(ends_without_room_are_counted),
      TEST(a_head_that_cannot_be_is_not_followed),
      TEST(without_a_ring_there_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
