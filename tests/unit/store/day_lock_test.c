/* SPDX-License-Identifier: Apache-2.0 */
/* Writers get the lock however many read, and readers however often one writes. */
#include "store/day_lock.h"

#include "common/clock.h"
#include "common/cutoff.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

enum { READERS = 4, WRITES = 50 };

static struct day_lock lock;
static _Atomic bool is_over, is_writing;
static _Atomic unsigned reading, reads;

static int set_up(void **state) {
  (void)state;
  day_lock_init(&lock);
  is_over = is_writing = false;
  reading = reads = 0;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  day_lock_fini(&lock);
  return 0;
}

static void rest(long us) {
  nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static bool has_waiting_readers(void) {
  pthread_mutex_lock(&lock.mutex);
  bool has_some = lock.waiting_readers > 0;
  pthread_mutex_unlock(&lock.mutex);
  return has_some;
}

/* Reads until another thread reads, too, or for 20 ms: so there is always a reader, unless they are
   held up. */
static void *read_always(void *context) {
  while (!is_over) {
    day_lock_read(&lock, NULL);
    assert_false(is_writing);
    unsigned before = ++reads;
    reading++;
    for (unsigned i = 0; i < 200 && reads == before && !is_over; i++) rest(100);
    reading--;
    day_lock_end_read(&lock);
  }
  return context;
}

static void a_writer_comes_to_it_among_readers_without_end_and_so_do_they(void **state) {
  (void)state;
  pthread_t threads[READERS];
  for (unsigned i = 0; i < READERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, read_always, NULL), 0);
  while (reads < 100) rest(100);
  unsigned before = 0;
  for (unsigned i = 0; i < WRITES; i++) { /* one directly after the other, as when files are
                                             pruned */
    assert_int_equal(day_lock_write(&lock, 10000), 0);
    assert_true(reads > before);
    is_writing = true;
    assert_int_equal(reading, 0);
    while (!has_waiting_readers()) rest(100); /* these are admitted before the next writer */
    before = reads;
    is_writing = false;
    day_lock_end_write(&lock);
  }
  is_over = true;
  for (unsigned i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
}

static void a_writer_that_gives_up_lets_readers_in(void **state) {
  (void)state;
  day_lock_read(&lock, NULL);
  uint64_t start_ns = clock_monotonic_ns();
  assert_int_equal(day_lock_write(&lock, 50), -ETIMEDOUT);
  assert_in_range(clock_monotonic_ns() - start_ns, 50 * NS_PER_MS, 5 * NS_PER_SECOND);
  day_lock_read(&lock, NULL);
  day_lock_end_read(&lock);
  day_lock_end_read(&lock);
  assert_int_equal(day_lock_write(&lock, 50), 0);
  assert_int_equal(day_lock_write(&lock, 50), -ETIMEDOUT); /* nor two writers */
  day_lock_end_write(&lock);
}

static void a_reader_that_gives_up_holds_up_no_writer(void **state) {
  (void)state;
  const struct cutoff past = {.deadline_ns = 1};
  assert_int_equal(day_lock_write(&lock, 50), 0);
  assert_int_equal(day_lock_read(&lock, &past), -ETIMEDOUT);
  day_lock_end_write(&lock);
  assert_int_equal(day_lock_write(&lock, 50), 0);
  day_lock_end_write(&lock);
  assert_int_equal(day_lock_read(&lock, &past), 0); /* without a wait the cutoff is ignored */
  day_lock_end_read(&lock);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_writer_comes_to_it_among_readers_without_end_and_so_do_they,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_writer_that_gives_up_lets_readers_in, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_reader_that_gives_up_holds_up_no_writer, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
