/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=index_maker_make: the test sets the result for a file and its time. */
#include "debug_store_fixture.h"

#include "names/deep_reader.h"
#include "names/symbol_reader.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct nursery;

enum { SETTLE_MS = 20000 };

static struct deep_reader *deep;
static struct symbol_reader *reader;
static sem_t may_end; /* once for each read file */
static _Atomic unsigned reading_count, read_count;
static int verdict;

int __wrap_index_maker_make(struct debug_store *of, struct nursery *nursery,
                            const struct debug_file *file);

int __wrap_index_maker_make(struct debug_store *of, struct nursery *nursery,
                            const struct debug_file *file) {
  (void)nursery;
  atomic_fetch_add(&reading_count, 1);
  while (sem_wait(&may_end) != 0) continue;
  atomic_fetch_add(&read_count, 1);
  return verdict != 0 ? verdict : debug_store_set_quality(of, file->sha256, DEBUG_SYMTAB, "");
}

static int open_reader(void **state) {
  int error = set_up(state);
  if (error == 0) error = sem_init(&may_end, 0, 0);
  if (error == 0) error = deep_reader_open(store, &deep);
  if (error == 0) error = symbol_reader_open(store, deep, &reader);
  verdict = 0;
  atomic_store(&read_count, 0);
  atomic_store(&reading_count, 0);
  return error;
}

static int close_reader(void **state) {
  symbol_reader_close(reader);
  deep_reader_close(deep);
  sem_destroy(&may_end);
  return tear_down(state);
}

/* A file from board "one" that has not been read. */
static struct debug_file unread(uint8_t seed, struct span id) {
  struct sample_file sent = sample(seed);
  struct debug_file file;
  assert_int_equal(write_whole("one", id, &sent), 1);
  assert_int_equal(debug_store_find_unread(store, "one", id, &file), 0);
  return file;
}

static void await_readings(unsigned count) {
  for (unsigned ms = 0; ms < SETTLE_MS && atomic_load(&reading_count) < count; ms++) usleep(1000);
  assert_int_equal(atomic_load(&reading_count), count);
}

static void a_request_waits_for_nothing_and_is_read_in_its_turn(void **state) {
  (void)state;
  struct debug_file first = unread(1, id_a), second = unread(2, id_b);
  uint64_t generation = debug_store_generation(store, id_a);
  symbol_reader_request(reader, &first); /* returns although no read may end yet */
  symbol_reader_request(reader, &second);
  symbol_reader_request(reader, &second);
  await_readings(1);
  assert_false(symbol_reader_settle(reader, 20));
  assert_int_equal(debug_store_generation(store, id_a), generation);
  for (int i = 0; i < 3; i++) sem_post(&may_end);
  assert_true(symbol_reader_settle(reader, SETTLE_MS));
  assert_int_equal(atomic_load(&read_count), 2);
  assert_true(debug_store_generation(store, id_a) > generation);
}

static void *read_now(void *file) {
  return symbol_reader_read(reader, file) == 0 ? NULL : file;
}

static void a_file_that_several_want_is_read_once(void **state) {
  (void)state;
  struct debug_file file = unread(3, id_a), other = unread(4, id_b);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, read_now, i < 2 ? &file : &other), 0);
  symbol_reader_request(reader, &file);
  await_readings(2); /* the other file is read meanwhile */
  for (int i = 0; i < 4; i++) sem_post(&may_end);
  for (int i = 0; i < 3; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_true(symbol_reader_settle(reader, SETTLE_MS));
  assert_int_equal(atomic_load(&read_count), 2);
}

static void what_no_worker_could_be_had_for_can_be_asked_for_again(void **state) {
  (void)state;
  struct debug_file file = unread(5, id_a);
  verdict = -EAGAIN;
  for (int i = 0; i < 3; i++) sem_post(&may_end);
  assert_int_equal(symbol_reader_read(reader, &file), -EAGAIN);
  symbol_reader_request(reader, &file);
  assert_true(symbol_reader_settle(reader, SETTLE_MS));
  verdict = 0;
  symbol_reader_request(reader, &file);
  assert_true(symbol_reader_settle(reader, SETTLE_MS));
  assert_int_equal(atomic_load(&read_count), 3);
  assert_int_equal(debug_store_find_unread(store, "one", id_a, &file), -ENOENT);
}

static void what_waits_ends_with_the_reader(void **state) {
  (void)state;
  struct debug_file first = unread(6, id_a), second = unread(7, id_b);
  symbol_reader_request(reader, &first);
  symbol_reader_request(reader, &second);
  await_readings(1);
  sem_post(&may_end);
  sem_post(&may_end);
  symbol_reader_close(reader);
  assert_int_equal(symbol_reader_open(store, deep, &reader), 0);
  assert_true(symbol_reader_settle(reader, SETTLE_MS));
}

#define READER(test) cmocka_unit_test_setup_teardown(test, open_reader, close_reader)

int main(void) {
  const struct CMUnitTest tests[] = {
      READER(a_request_waits_for_nothing_and_is_read_in_its_turn),
      READER(a_file_that_several_want_is_read_once),
      READER(what_no_worker_could_be_had_for_can_be_asked_for_again),
      READER(what_waits_ends_with_the_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
