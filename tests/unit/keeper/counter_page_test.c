/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/counter_page.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/counter-page-XXXXXX");
  int fd = mkstemp(path);
  if (fd < 0) return -1;
  close(fd);
  unlink(path);
  return 0;
}

static int remove_path(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

static struct counter_page *open_page(uint64_t run) {
  struct counter_page *page;
  assert_int_equal(counter_page_open(path, run, &page), 0);
  return page;
}

/* As a run that was killed leaves it. */
static void leave_unclosed(uint64_t run) {
  struct counter_page *page = open_page(run);
  counter_page_produce(page, 10);
  counter_page_ship(page, 4);
  counter_page_drop(page, LOSS_RING_FULL, 1);
  counter_page_close(page);
}

static void the_books_of_runs_that_died_wait_until_they_are_closed(void **state) {
  (void)state;
  struct counter_page *page, *old;
  leave_unclosed(7);
  leave_unclosed(8);
  page = open_page(9);
  assert_int_equal(counter_page_books(page)->run, 9);
  assert_int_equal(counter_page_books(page)->produced, 0);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(counter_page_open_old(path, i, &old), 0);
    assert_int_equal(counter_page_books(old)->run, 7 + i);
    assert_int_equal(counters_open(counter_page_books(old)), 5);
    assert_int_equal(atomic_load(&old->next_seq), 2);
    counter_page_close(old);
    counter_page_remove_old(path, i);
  }
  assert_int_equal(counter_page_open_old(path, 0, &old), -ENOENT);
  counter_page_close(page);
}

static void no_more_than_so_many_are_kept(void **state) {
  (void)state;
  struct counter_page *page, *old;
  for (unsigned i = 0; i < COUNTER_PAGE_OLD_MAX + 2; i++) leave_unclosed(100 + i);
  page = open_page(99);
  for (unsigned i = 0; i < COUNTER_PAGE_OLD_MAX; i++) {
    assert_int_equal(counter_page_open_old(path, i, &old), 0);
    counter_page_close(old);
    counter_page_remove_old(path, i);
  }
  assert_int_equal(counter_page_open_old(path, COUNTER_PAGE_OLD_MAX, &old), -ENOENT);
  counter_page_close(page);
}

static void a_run_that_ended_or_did_nothing_leaves_no_books(void **state) {
  (void)state;
  struct counter_page *old, *page = open_page(7);
  counter_page_produce(page, 10);
  counter_page_ship(page, 10);
  counter_page_end_run(page);
  counter_page_close(page);
  counter_page_close(open_page(8));
  counter_page_close(open_page(9));
  assert_int_equal(counter_page_open_old(path, 0, &old), -ENOENT);
}

static void a_page_of_another_make_counts_as_none(void **state) {
  (void)state;
  leave_unclosed(7);
  struct counter_page *old, *page = open_page(8);
  counter_page_produce(page, 1);
  page->magic ^= 1;
  counter_page_close(page);
  assert_int_equal(counter_page_open_old(path, 0, &old), 0);
  old->magic ^= 1;
  counter_page_close(old);
  assert_int_equal(counter_page_open_old(path, 0, &old), -EBADMSG);
  counter_page_remove_old(path, 0);
  counter_page_close(open_page(9));
  assert_int_equal(counter_page_open_old(path, 0, &old), -ENOENT);
}

static void a_prepared_drain_changes_nothing_until_it_is_committed(void **state) {
  (void)state;
  struct counter_page *page = open_page(7);
  struct counters after = *counter_page_books(page);
  struct counter_drain drain = {3, 5, 800, 2, 1}, found;
  after.produced = 9;
  assert_false(counter_page_has_pending(page, &found));
  counter_page_prepare(page, &drain, &after);
  assert_int_equal(counter_page_books(page)->produced, 0);
  assert_true(counter_page_has_pending(page, &found));
  assert_int_equal(found.ring, 3);
  assert_int_equal(found.slot, 5);
  assert_int_equal(found.tail, 800);
  assert_int_equal(found.counted_full, 2);
  assert_int_equal(found.counted_reentry, 1);
  counter_page_commit(page);
  assert_int_equal(counter_page_books(page)->produced, 9);
  assert_false(counter_page_has_pending(page, &found));
  counter_page_close(page);
}

static void a_forgotten_drain_leaves_the_books_as_they_were(void **state) {
  (void)state;
  struct counter_page *page = open_page(7);
  struct counters after = *counter_page_books(page);
  struct counter_drain drain = {.ring = 3}, found;
  after.produced = 9;
  counter_page_prepare(page, &drain, &after);
  counter_page_forget(page);
  assert_int_equal(counter_page_books(page)->produced, 0);
  assert_false(counter_page_has_pending(page, &found));
  counter_page_close(page);
}

static void a_commit_that_was_cut_short_is_finished_and_not_undone(void **state) {
  (void)state;
  struct counter_page *page = open_page(7);
  struct counters after = *counter_page_books(page);
  struct counter_drain drain = {.ring = 3};
  after.produced = 9;
  counter_page_prepare(page, &drain, &after);
  /* As a kill leaves it between the two stores of the commit. */
  atomic_store(&page->pending, 2 + 1);
  atomic_store(&page->current, 1);
  counter_page_commit(page);
  assert_int_equal(counter_page_books(page)->produced, 9);
  /* And before the first of them, even when the ring seems not to have moved. */
  after.produced = 12;
  counter_page_prepare(page, &drain, &after);
  atomic_store(&page->pending, 2 + 0);
  counter_page_forget(page);
  assert_int_equal(counter_page_books(page)->produced, 12);
  counter_page_close(page);
}

static void what_leaves_the_spool_unsent_moves_from_shipped_to_dropped(void **state) {
  (void)state;
  struct counter_page *page = open_page(7);
  counter_page_produce(page, 10);
  counter_page_ship(page, 10);
  counter_page_unship(page, LOSS_SPOOL_FULL, 4);
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->shipped, 6);
  assert_int_equal(books->dropped[LOSS_SPOOL_FULL], 4);
  assert_int_equal(counters_open(books), 0);
  counter_page_unship(page, LOSS_SPOOL_FULL, 100);
  books = counter_page_books(page);
  assert_int_equal(books->shipped + loss_total(books), 10);
  counter_page_close(page);
}

static void each_shipped_batch_takes_the_next_seq(void **state) {
  (void)state;
  struct counter_page *page = open_page(7);
  assert_int_equal(atomic_load(&page->next_seq), 1);
  counter_page_ship(page, 0);
  counter_page_ship(page, 0);
  assert_int_equal(atomic_load(&page->next_seq), 3);
  counter_page_end_run(page);
  assert_int_equal(counter_page_books(page)->final, 1);
  counter_page_close(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)
      TEST(the_books_of_runs_that_died_wait_until_they_are_closed),
      TEST(no_more_than_so_many_are_kept),
      TEST(a_run_that_ended_or_did_nothing_leaves_no_books),
      TEST(a_page_of_another_make_counts_as_none),
      TEST(a_prepared_drain_changes_nothing_until_it_is_committed),
      TEST(a_forgotten_drain_leaves_the_books_as_they_were),
      TEST(a_commit_that_was_cut_short_is_finished_and_not_undone),
      TEST(what_leaves_the_spool_unsent_moves_from_shipped_to_dropped),
      TEST(each_shipped_batch_takes_the_next_seq),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
