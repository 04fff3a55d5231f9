/* SPDX-License-Identifier: Apache-2.0 */
/* A worker may be killed at any moment: the next worker completes the steps on its page. */
#include "producer_fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum { KILLS = 200 };

/* The page of a worker killed after step 2: one record is about to be drained. */
static void prepare_one(struct producer *producer) {
  struct counters after = *counter_page_books(kept.page);
  struct counter_drain drain = {.ring = 1, .counted_full = 7};
  produce(producer);
  after.produced++;
  drain.tail = atomic_load(&producer->slot->head);
  counter_page_prepare(kept.page, &drain, &after);
}

static void a_drain_that_had_not_moved_the_tail_is_done_again(void **state) {
  struct bench *bench = *state;
  prepare_one(&bench->producer);
  kept_open(&bench->p);
  assert_int_equal(counter_page_books(kept.page)->produced, 0);
  drain_run(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->produced, 1);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_WORKER_KILLED], 0);
}

static void a_drain_that_had_moved_the_tail_is_booked(void **state) {
  struct bench *bench = *state;
  prepare_one(&bench->producer);
  __real_ring_reader_release(&bench->producer.ring, 0, atomic_load(&bench->producer.slot->head));
  kept_open(&bench->p);
  drain_run(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->produced, 1);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_WORKER_KILLED], 1);
  assert_int_equal(bench->producer.slot->counted_full, 7);
}

/* A worker that drains and ships as fast as possible, until it is killed. */
static void run_worker(struct bench *bench) {
  kept_open(&bench->p);
  for (unsigned i = 0;; i++) {
    drain_run(&bench->p.drain);
    if (i % 3 == 0) shipper_close_window(&bench->p.shipper, false);
  }
}

/* Keeps the ring half full for as long as the worker lives, so that the kill meets it at work. */
static void feed_and_kill(struct producer *producer, pid_t worker) {
  uint64_t tail = atomic_load(&producer->slot->tail);
  long rounds = rand() % 3000;
  while (atomic_load(&producer->slot->tail) == tail) {
    produce(producer);
    if (producer->full % 100 == 99) usleep(100); /* it starts: do not lose more than is believed */
  }
  while (rounds-- > 0) {
    uint64_t waiting = atomic_load(&producer->slot->head) - atomic_load(&producer->slot->tail);
    if (waiting < producer->ring.slot_bytes / 2) produce(producer);
  }
  kill(worker, SIGKILL);
  waitpid(worker, NULL, 0);
}

static void kill_nine_at_any_moment_keeps_the_books(void **state) {
  struct bench *bench = *state;
  srand(1);
  for (unsigned i = 0; i < KILLS; i++) {
    pid_t worker = fork();
    if (worker == 0) {
      run_worker(bench);
      _exit(0);
    }
    feed_and_kill(&bench->producer, worker);
  }
  kept_open(&bench->p);
  drain_run(&bench->p.drain);
  assert_int_equal(shipper_close_window(&bench->p.shipper, true), 0);
  const struct counters *books = counter_page_books(kept.page);
  print_message("produced %llu, shipped %llu, killed %llu, ring full %llu\n",
                (unsigned long long)books->produced, (unsigned long long)books->shipped,
                (unsigned long long)books->dropped[LOSS_WORKER_KILLED],
                (unsigned long long)books->dropped[LOSS_RING_FULL]);
  assert_int_equal(books->produced, bench->producer.written + bench->producer.full);
  assert_int_equal(books->dropped[LOSS_RING_FULL], bench->producer.full);
  assert_int_equal(books->produced, books->shipped + loss_total(books));
  assert_int_equal(books->final, 1);
  uint64_t shipped = books->shipped;
  kept_close(&bench->p);
  assert_int_equal(kept_spooled(), shipped);
}

static void a_run_that_was_never_ended_is_closed_by_the_next(void **state) {
  struct bench *bench = *state;
  struct counter_page old = {.magic = COUNTER_PAGE_MAGIC};
  old.books[1] = (struct counters){.run = 55, .produced = 100, .shipped = 70};
  old.books[1].dropped[LOSS_REENTRY] = 5;
  atomic_store(&old.current, 1);
  atomic_store(&old.next_seq, 8);
  kept_open(&bench->p);
  assert_int_equal(shipper_close_old_run(&bench->p.shipper, &old), 0);
  /* Killed before the page was taken away: the same again. */
  assert_int_equal(shipper_close_old_run(&bench->p.shipper, &old), 0);
  struct kept_batch got;
  kept_take_batch(&bench->p, &got);
  assert_int_equal(got.item.seq, 8);
  kept_batch_fini(&got);
  kept_take_batch(&bench->p, &got);
  assert_int_equal(got.item.run, 55);
  assert_int_equal(got.item.seq, 9);
  assert_int_equal(got.item.records, 0);
  const struct counters *counters = &got.batch.counters;
  assert_int_equal(counters->final, 1);
  assert_int_equal(counters->dropped[LOSS_WORKER_KILLED], 25);
  assert_int_equal(counters->produced, counters->shipped + loss_total(counters));
  kept_batch_fini(&got);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, bench_make, bench_unmake)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_drain_that_had_not_moved_the_tail_is_done_again),
      CASE(a_drain_that_had_moved_the_tail_is_booked),
      CASE(kill_nine_at_any_moment_keeps_the_books),
      CASE(a_run_that_was_never_ended_is_closed_by_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
