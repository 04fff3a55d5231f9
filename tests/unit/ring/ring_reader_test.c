/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/ring_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOTS = 2, SLOT_BYTES = RING_SLOT_BYTES_MIN };

static struct ring_reader ring;

static int make_ring(void **state) {
  (void)state;
  ring = (struct ring_reader){.slot_count = SLOTS, .slot_bytes = SLOT_BYTES};
  size_t bytes = (size_t)ring_total_bytes(SLOTS, SLOT_BYTES);
  ring.base = aligned_alloc(4096, (bytes + 4095) & ~4095UL);
  memset(ring.base, 0, bytes);
  ring_init(&ring, &(struct ring_terms){.period_ns = 10000000, .signal = 40});
  return 0;
}

static int free_ring(void **state) {
  (void)state;
  free(ring.base);
  return 0;
}

static struct ring_slot *slot_at(uint32_t index) {
  return (struct ring_slot *)(void *)(ring.base + ring_slot_offset(index, SLOT_BYTES));
}

static uint8_t *data_of(uint32_t index) {
  return (uint8_t *)slot_at(index) + RING_SLOT_HEADER_BYTES;
}

static size_t put(uint8_t *to, uint8_t depth, uint8_t flags, uint32_t weight) {
  struct ring_record record = {(uint16_t)(8 + 8 * depth), depth, flags, weight};
  uint64_t pc = 0x1000;
  memcpy(to, &record, sizeof record);
  for (uint8_t i = 0; i < depth; i++, pc += 16) memcpy(to + 8 + 8 * i, &pc, sizeof pc);
  return record.size_bytes;
}

static void a_fresh_ring_says_what_it_is(void **state) {
  (void)state;
  const struct ring_header *header = (const void *)ring.base;
  assert_int_equal(header->magic, RING_MAGIC);
  assert_int_equal(header->version, RING_VERSION);
  assert_int_equal(header->slot_count, SLOTS);
  assert_int_equal(header->period_ns, 10000000);
  assert_int_equal(slot_at(1)->magic, RING_MAGIC);
}

static void what_wraps_around_the_end_is_copied_in_order(void **state) {
  (void)state;
  struct ring_view view;
  uint8_t bytes[SLOT_BYTES];
  memset(data_of(0), 'a', SLOT_BYTES);
  memset(data_of(0), 'b', 16);
  atomic_store(&slot_at(0)->tail, 3 * SLOT_BYTES - 8);
  atomic_store(&slot_at(0)->head, 3 * SLOT_BYTES + 16);
  ring_reader_look(&ring, 0, &view);
  assert_false(view.is_broken);
  assert_int_equal(ring_reader_copy(&ring, 0, &view, bytes), 24);
  assert_memory_equal(bytes, "aaaaaaaabbbbbbbbbbbbbbbb", 24);
}

static void a_head_too_far_ahead_is_broken_and_costs_only_what_was_there(void **state) {
  (void)state;
  struct ring_view view;
  atomic_store(&slot_at(0)->tail, 64);
  atomic_store(&slot_at(0)->head, 64 + SLOT_BYTES + 8);
  ring_reader_look(&ring, 0, &view);
  assert_true(view.is_broken);
  assert_int_equal(view.head, view.tail);
  assert_int_equal(view.head, 64 + SLOT_BYTES + 8);
  atomic_store(&slot_at(0)->head, 32); /* behind the tail */
  ring_reader_look(&ring, 0, &view);
  assert_true(view.is_broken);
  atomic_store(&slot_at(0)->head, 68); /* between two words */
  ring_reader_look(&ring, 0, &view);
  assert_true(view.is_broken);
  assert_int_equal(view.tail % 8, 0);
}

static void a_full_slot_is_not_broken(void **state) {
  (void)state;
  struct ring_view view;
  atomic_store(&slot_at(0)->head, SLOT_BYTES);
  ring_reader_look(&ring, 0, &view);
  assert_false(view.is_broken);
  assert_int_equal(view.head, SLOT_BYTES);
}

static void a_name_without_an_end_is_ended(void **state) {
  (void)state;
  struct ring_view view;
  memset(slot_at(0)->name, 'x', RING_NAME_BYTES);
  ring_reader_look(&ring, 0, &view);
  assert_int_equal(strlen(view.name), RING_NAME_BYTES);
}

static void a_record_comes_back_as_it_was_written(void **state) {
  (void)state;
  uint8_t bytes[64];
  struct ring_sample sample;
  size_t size = put(bytes, 3, RING_RECORD_TRUNCATED, 2);
  assert_int_equal(ring_record_decode(bytes, size, &sample), size);
  assert_int_equal(sample.depth, 3);
  assert_int_equal(sample.weight, 2);
  assert_int_equal(sample.flags, RING_RECORD_TRUNCATED);
  assert_int_equal(sample.pc[2], 0x1020);
  assert_int_equal(ring_record_decode(bytes, 0, &sample), 0);
}

static void padding_is_a_record_of_no_frames(void **state) {
  (void)state;
  uint8_t bytes[64];
  struct ring_sample sample;
  struct ring_record padding = {40, 0, RING_RECORD_PADDING, 0};
  memcpy(bytes, &padding, sizeof padding);
  assert_int_equal(ring_record_decode(bytes, sizeof bytes, &sample), 40);
  assert_int_equal(sample.depth, 0);
}

static void a_record_whose_size_lies_is_refused(void **state) {
  (void)state;
  uint8_t bytes[64];
  struct ring_sample sample;
  struct ring_record record = {32, 3, 0, 1};
  memset(bytes, 0, sizeof bytes);
  const struct ring_record bad[] = {
      {0, 3, 0, 1},   /* no progress */
      {30, 3, 0, 1},  /* not whole words */
      {32, 4, 0, 1},  /* more frames than it holds */
      {32, 2, 0, 1},  /* fewer */
      {128, 15, 0, 1} /* past the end */
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    memcpy(bytes, &bad[i], sizeof record);
    assert_int_equal(ring_record_decode(bytes, sizeof bytes, &sample), -1);
  }
  record.weight = 0; /* a sample of nothing */
  memcpy(bytes, &record, sizeof record);
  assert_int_equal(ring_record_decode(bytes, sizeof bytes, &sample), -1);
  assert_int_equal(ring_record_decode(bytes, 7, &sample), -1);
}

static void released_room_and_freed_slots_are_seen_by_the_other_side(void **state) {
  (void)state;
  struct ring_slot *slot = slot_at(1);
  atomic_store(&slot->owner, ring_owner(5, 6));
  atomic_store(&slot->state, RING_RELEASED);
  struct ring_view view;
  ring_reader_look(&ring, 1, &view);
  assert_int_equal(view.pid, 5);
  assert_int_equal(view.tid, 6);
  assert_true(view.is_released);
  ring_reader_count(&ring, 1, 3, 4);
  ring_reader_release(&ring, 1, 96);
  ring_reader_free_slot(&ring, 1);
  assert_int_equal(atomic_load(&slot->tail), 96);
  assert_int_equal(slot->counted_full, 3);
  assert_int_equal(slot->counted_reentry, 4);
  assert_int_equal(atomic_load(&slot->owner), 0);
  assert_int_equal(atomic_load(&slot->state), RING_LIVE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_ring, free_ring)
      TEST(a_fresh_ring_says_what_it_is),
      TEST(what_wraps_around_the_end_is_copied_in_order),
      TEST(a_head_too_far_ahead_is_broken_and_costs_only_what_was_there),
      TEST(a_full_slot_is_not_broken),
      TEST(a_name_without_an_end_is_ended),
      TEST(a_record_comes_back_as_it_was_written),
      TEST(padding_is_a_record_of_no_frames),
      TEST(a_record_whose_size_lies_is_refused),
      TEST(released_room_and_freed_slots_are_seen_by_the_other_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
