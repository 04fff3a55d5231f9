/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder: the sequence of its founding text word by word, the state after a crash at
   each store, and hostile content. */
#include "ring/recorder_reader.h"
#include "ring/recorder_writer.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The text's example keeps 4; a slot is a power of two, so the handler has 3 or 7. */
enum { SLOTS = 2, VALUES = 7, WORDS = VALUES + 1, SLOT_BYTES = 8 * WORDS, PID = 77, KILLS = 300 };

static struct {
  uint8_t *base;
  uint64_t size;
  struct ring_reader daemon;
  struct ring_writer target;
  struct recorder_reader reader;
} f;

static int setup(void **state) {
  (void)state;
  f.size = recorder_total_bytes(SLOTS, SLOT_BYTES);
  f.base = calloc(1, f.size);
  f.daemon = (struct ring_reader){
      .base = f.base, .slot_count = SLOTS, .slot_bytes = SLOT_BYTES, .collect = RING_RECORDER};
  ring_init(&f.daemon, &(struct ring_terms){.period_ns = 10000000, .signal = 61});
  struct ring_terms terms;
  return ring_writer_init(&f.target, &terms, f.base, f.size);
}

static int teardown(void **state) {
  (void)state;
  free(f.base);
  return 0;
}

static struct ring_slot *claim(uint32_t tid) {
  static const char name[RING_NAME_BYTES] = "worker";
  struct ring_slot *slot = ring_writer_claim(&f.target, ring_owner(PID, tid), name);
  assert_non_null(slot);
  return slot;
}

static uint64_t *words_of(struct ring_slot *slot) {
  return (uint64_t *)(void *)((uint8_t *)slot + RING_SLOT_HEADER_BYTES);
}

static int open_it(void) {
  return recorder_reader_open(&f.reader, f.base, f.size, true);
}

/* One letter a word: values 1.. are x, on the next lap y, on the one after that z. */
static const char *drawn(const uint64_t *words, unsigned value_count) {
  static char text[64];
  for (unsigned i = 0; i <= value_count; i++)
    text[i] = (char)(words[i] == 0 ? '0' : 'x' + (int)((words[i] - 1) / value_count));
  text[value_count + 1] = '\0';
  return text;
}

/* A slot of VALUES values passes through the STEPS. */
static void draws(unsigned values, const char *const *steps, unsigned count) {
  struct {
    _Alignas(8) uint8_t header[RING_SLOT_HEADER_BYTES];
    uint64_t words[5];
  } slot;
  memset(&slot, 0, sizeof slot);
  uint32_t place = 0;
  for (unsigned i = 0; i < count; i++) {
    recorder_writer_put((struct ring_slot *)(void *)&slot, (values + 1) * 8, i + 1, &place);
    assert_string_equal(drawn(slot.words, values), steps[i]);
  }
}

/* The founding text's algorithm with its own limit of 4, through the writer's code: a slot of five
   words is no power of two, but the writer only divides. */
static void the_six_steps_of_the_text_are_these(void **state) {
  (void)state;
  static const char *const steps[] = {"x0000", "xx000", "xxx00", "xxxx0", "y0xx0",
                                      "yy0x0", "yyy00", "yyyy0", "z0yy0"};
  draws(4, steps, sizeof steps / sizeof *steps);
}

static void a_slot_of_three_goes_round(void **state) {
  (void)state;
  static const char *const steps[] = {"x000", "xx00", "xxx0", "y0x0", "yy00", "yyy0", "z0y0"};
  draws(3, steps, sizeof steps / sizeof *steps);
}

struct layout {
  uint64_t words[5];
  unsigned count;
  uint64_t values[4]; /* oldest first */
  bool was_overwritten;
};

static void each_layout_is_read_oldest_first(void **state) {
  (void)state;
  static const struct layout layouts[] = {
      {{0, 0, 0, 0, 0}, 0, {0}, false},
      {{1, 0, 0, 0, 0}, 1, {1}, false},
      {{1, 2, 0, 0, 0}, 2, {1, 2}, false},
      {{1, 2, 3, 0, 0}, 3, {1, 2, 3}, false},
      {{1, 2, 3, 4, 0}, 4, {1, 2, 3, 4}, false},
      {{5, 0, 3, 4, 0}, 3, {3, 4, 5}, true},
      {{5, 6, 0, 4, 0}, 3, {4, 5, 6}, true},
      {{5, 6, 7, 0, 0}, 3, {5, 6, 7}, false}, /* from the words alone; head has more */
      {{0, 2, 3, 4, 0}, 3, {2, 3, 4}, true},  /* crashed as it began the next lap */
      {{0, 0, 3, 4, 0}, 2, {3, 4}, true},
      {{5, 0, 0, 4, 0}, 2, {4, 5}, true}, /* crashed between the two stores */
  };
  for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    uint64_t words[5];
    struct recorder_log log = {0};
    memcpy(words, layouts[i].words, sizeof words);
    assert_int_equal(recorder_log_order(words, 4, &log), 0);
    assert_int_equal(log.count, layouts[i].count);
    assert_int_equal(log.was_overwritten, layouts[i].was_overwritten);
    for (unsigned at = 0; at < log.count; at++)
      assert_int_equal(recorder_log_value(&log, words, at).pc, layouts[i].values[at]);
  }
}

/* Every value in the log must be one of the last COUNT written, in order. */
static void assert_newest(const struct recorder_log *log, const uint64_t *words, uint64_t last) {
  for (uint32_t i = 0; i < log->count; i++)
    assert_int_equal(recorder_log_value(log, words, i).pc, last - log->count + 1 + i);
}

static void what_is_read_is_always_the_last_values_in_order(void **state) {
  (void)state;
  struct ring_slot *slot = claim(1);
  uint64_t words[WORDS];
  struct recorder_log log;
  uint32_t place = 0;
  for (uint64_t value = 1; value < 100; value++) {
    uint32_t weight = 3;
    recorder_writer_put(slot, SLOT_BYTES, ring_word(value, &weight), &place);
    assert_int_equal(open_it(), 0);
    assert_int_equal(recorder_reader_log(&f.reader, 0, words, &log), 0);
    assert_true(log.count == value || log.count >= VALUES - 1);
    assert_newest(&log, words, value);
    assert_int_equal(recorder_log_value(&log, words, 0).weight, 3);
    assert_int_equal(log.written, value);
    assert_int_equal(log.was_overwritten, value > VALUES);
  }
  assert_int_equal(log.pid, PID);
  assert_int_equal(log.tid, 1);
  assert_string_equal(log.name, "worker");
  assert_int_equal(recorder_reader_log(&f.reader, 1, words, &log), -ENOENT);
}

static void keeps(uint32_t asked) {
  uint32_t bytes = recorder_slot_bytes(asked), places = bytes / 8 - 1, place = 0;
  struct ring_slot *slot = calloc(1, RING_SLOT_HEADER_BYTES + (size_t)bytes);
  uint64_t *words = malloc(bytes);
  struct recorder_log log;
  assert_non_null(slot);
  assert_non_null(words);
  for (uint64_t value = 1; value <= 2ULL * places + 2; value++) {
    recorder_writer_put(slot, bytes, value, &place);
    memcpy(words, words_of(slot), bytes);
    assert_int_equal(recorder_log_order(words, places, &log), 0);
    assert_true(log.count >= (value < asked ? value : asked));
  }
  free(words);
  free(slot);
}

static void a_slot_keeps_as_many_as_were_asked_for_at_any_time(void **state) {
  (void)state;
  for (uint32_t asked = RECORDER_VALUES_MIN; asked < 40; asked++) keeps(asked);
  keeps(127);
  keeps(RECORDER_VALUES_DEFAULT);
  assert_int_equal(recorder_slot_bytes(RECORDER_VALUES_DEFAULT), 8192);
  assert_int_equal(recorder_slot_bytes(RECORDER_VALUES_MAX), RING_SLOT_BYTES_MAX);
}

/* The stores of one put, done by hand one after the other: a kill may occur after each. */
static void a_crash_between_the_stores_costs_old_values_only(void **state) {
  (void)state;
  struct ring_slot *slot = claim(1);
  uint64_t copy[WORDS], before[WORDS];
  uint32_t place = 0;
  for (uint64_t value = 1; value < 60; value++) {
    memcpy(before, words_of(slot), sizeof before);
    uint32_t at = place < VALUES ? place : 0;
    uint32_t weight = 1;
    recorder_writer_put(slot, SLOT_BYTES, ring_word(value, &weight), &place);
    for (int done = 0; done < 3; done++) {
      struct recorder_log log = {0};
      memcpy(copy, before, sizeof copy);
      if (done > 0 && at == 0) copy[0] = 0;
      if (done > 1) copy[at + 1] = 0;
      assert_int_equal(recorder_log_order(copy, VALUES, &log), 0);
      assert_newest(&log, copy, value - 1);
      assert_true(log.count + 3 >= (value - 1 < VALUES ? value - 1 : VALUES));
    }
  }
}

/* The real thing: the writer's process is killed at any instruction, many times over. */
static void a_killed_writer_leaves_its_last_values_in_order(void **state) {
  (void)state;
  size_t bytes = RING_SLOT_HEADER_BYTES + SLOT_BYTES;
  struct ring_slot *slot =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(slot, MAP_FAILED);
  for (int round = 0; round < KILLS; round++) {
    memset((void *)slot, 0, bytes);
    pid_t child = fork();
    if (child == 0) {
      uint32_t place = 0;
      for (uint64_t value = 1;; value++) recorder_writer_put(slot, SLOT_BYTES, value, &place);
    }
    while (atomic_load(&slot->head) < 100) sched_yield();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct recorder_log log = {0};
    uint64_t copy[WORDS];
    memcpy(copy, words_of(slot), sizeof copy);
    assert_int_equal(recorder_log_order(copy, VALUES, &log), 0);
    assert_true(log.count >= VALUES - 2);
    uint64_t last = recorder_log_value(&log, copy, log.count - 1).pc;
    assert_true(last == slot->head || last == slot->head + 1);
    assert_newest(&log, copy, last);
  }
  munmap(slot, bytes);
}

static void a_place_from_nowhere_stays_in_the_slot(void **state) {
  (void)state;
  struct ring_slot *slot = claim(1);
  uint8_t *after = (uint8_t *)words_of(slot) + SLOT_BYTES;
  uint8_t next[RING_SLOT_HEADER_BYTES];
  memcpy(next, after, sizeof next);
  static const uint32_t places[] = {VALUES - 1, VALUES, VALUES + 1, 1U << 31, UINT32_MAX};
  for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
    uint32_t at = places[i];
    recorder_writer_put(slot, SLOT_BYTES, 1, &at);
    assert_memory_equal(next, after, sizeof next);
  }
}

static void a_freed_slot_is_fresh_for_the_next_thread(void **state) {
  (void)state;
  struct ring_slot *slot = claim(1);
  uint32_t place = 0;
  for (uint64_t value = 1; value < 20; value++)
    recorder_writer_put(slot, SLOT_BYTES, value, &place);
  struct ring_view view;
  ring_reader_look(&f.daemon, 0, &view);
  assert_int_equal(view.head, view.tail);
  assert_false(view.is_broken);
  ring_reader_free_slot(&f.daemon, 0);
  assert_ptr_equal(claim(2), slot);
  place = 0;
  recorder_writer_put(slot, SLOT_BYTES, 500, &place);
  uint64_t words[WORDS];
  struct recorder_log log;
  assert_int_equal(open_it(), 0);
  assert_int_equal(recorder_reader_log(&f.reader, 0, words, &log), 0);
  assert_int_equal(log.count, 1);
  assert_int_equal(log.tid, 2);
}

static void a_value_holds_what_it_can_of_pc_and_weight(void **state) {
  (void)state;
  uint32_t weight = 70000;
  uint64_t word = ring_word(0x7fffffffffff, &weight);
  assert_int_equal(word >> 48, RING_PAIR_WEIGHT_MAX);
  assert_int_equal(word & ((1ULL << 48) - 1), 0x7fffffffffff);
  assert_int_equal(weight, 70000 - RING_PAIR_WEIGHT_MAX);
  weight = 1;
  assert_int_equal(ring_word(1ULL << 48, &weight), 1ULL << 48);
  assert_int_equal(weight, 0);
}

static void strange_headers_are_refused(void **state) {
  (void)state;
  struct ring_header *header = (void *)f.base;
  uint64_t words[WORDS];
  struct recorder_log log;
  assert_int_equal(open_it(), 0);
  assert_int_equal(recorder_reader_open(&f.reader, f.base, f.size - 8, true), -EBADMSG);
  assert_int_equal(recorder_reader_open(&f.reader, f.base, 100, true), -EBADMSG);
  header->version++;
  assert_int_equal(open_it(), -EPROTO);
  header->version--;
  header->slot_bytes = 12;
  assert_int_equal(open_it(), -EBADMSG);
  header->slot_bytes = 0;
  assert_int_equal(open_it(), -EBADMSG);
  header->slot_bytes = SLOT_BYTES;
  header->collect = RING_STACKS;
  assert_int_equal(open_it(), -EBADMSG);
  header->collect = RING_RECORDER;
  assert_int_equal(open_it(), 0);
  memset(words_of(claim(1)), 0xff, SLOT_BYTES);
  assert_int_equal(recorder_reader_log(&f.reader, 0, words, &log), -EBADMSG);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(the_six_steps_of_the_text_are_these),
      CLAIM(a_slot_of_three_goes_round),
      CLAIM(each_layout_is_read_oldest_first),
      CLAIM(what_is_read_is_always_the_last_values_in_order),
      CLAIM(a_slot_keeps_as_many_as_were_asked_for_at_any_time),
      CLAIM(a_crash_between_the_stores_costs_old_values_only),
      CLAIM(a_killed_writer_leaves_its_last_values_in_order),
      CLAIM(a_place_from_nowhere_stays_in_the_slot),
      CLAIM(a_freed_slot_is_fresh_for_the_next_thread),
      CLAIM(a_value_holds_what_it_can_of_pc_and_weight),
      CLAIM(strange_headers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
