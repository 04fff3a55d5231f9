/* SPDX-License-Identifier: Apache-2.0 */
/* Both halves of a ring over a plain buffer: the reader gets every committed record, in order and
   complete; records that do not fit are counted. */
#include "ring/ring_reader.h"
#include "ring/ring_switch.h"
#include "ring/ring_writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOTS = 3, SLOT_BYTES = RING_SLOT_BYTES_MIN, PERIOD_NS = 10000000, SIGNAL = 61, PID = 77 };

struct fixture {
  struct ring_reader reader;
  struct ring_writer writer;
  struct ring_terms terms;
  size_t size;
};

static struct fixture f;
static const char name[RING_NAME_BYTES] = "worker";

static int setup(void **state) {
  (void)state;
  f.size = ring_total_bytes(SLOTS, SLOT_BYTES);
  f.reader = (struct ring_reader){.base = aligned_alloc(4096, f.size + 4096 - f.size % 4096),
                                  .slot_count = SLOTS,
                                  .slot_bytes = SLOT_BYTES};
  if (f.reader.base == NULL) return -1;
  memset(f.reader.base, 0, f.size);
  ring_init(&f.reader, &(struct ring_terms){.period_ns = PERIOD_NS, .signal = SIGNAL});
  return ring_writer_init(&f.writer, &f.terms, f.reader.base, f.size);
}

static int teardown(void **state) {
  (void)state;
  free(f.reader.base);
  return 0;
}

static struct ring_header *header(void) {
  return (struct ring_header *)(void *)f.reader.base;
}

/* Writes a record of DEPTH frames that all hold VALUE.  Returns 0 when there was no room. */
static int put(struct ring_slot *slot, unsigned depth, uint64_t value) {
  struct ring_record *record = ring_writer_reserve(&f.writer, slot);
  if (record == NULL) return 0;
  record->weight = (uint32_t)value + 1;
  record->depth = (uint8_t)depth;
  record->flags = 0;
  for (unsigned i = 0; i < depth; i++) record->pc[i] = value;
  ring_writer_commit(slot, record);
  return 1;
}

/* Reads all of slot 0; the records must hold FROM, FROM + 1, ...  Returns how many there were. */
static unsigned drain(uint64_t from) {
  struct ring_view view;
  uint8_t bytes[SLOT_BYTES];
  struct ring_sample sample;
  unsigned count = 0;
  ring_reader_look(&f.reader, 0, &view);
  assert_false(view.is_broken);
  size_t len = ring_reader_copy(&f.reader, 0, &view, bytes), at = 0;
  long step;
  while ((step = ring_record_decode(bytes + at, len - at, &sample)) > 0) {
    at += (size_t)step;
    if (sample.depth == 0) continue;
    assert_int_equal(sample.weight, from + count + 1);
    for (unsigned i = 0; i < sample.depth; i++) assert_int_equal(sample.pc[i], from + count);
    count++;
  }
  assert_int_equal(step, 0);
  assert_int_equal(at, len);
  ring_reader_release(&f.reader, 0, view.head);
  return count;
}

static struct ring_slot *claim(void) {
  struct ring_slot *slot = ring_writer_claim(&f.writer, ring_owner(PID, PID), name);
  assert_non_null(slot);
  return slot;
}

static void a_fresh_ring_is_accepted_with_its_terms(void **state) {
  (void)state;
  assert_int_equal(f.terms.period_ns, PERIOD_NS);
  assert_int_equal(f.terms.signal, SIGNAL);
  assert_int_equal(f.writer.depth_max, RING_DEPTH_MAX);
  assert_true(ring_writer_is_on(&f.writer));
  ring_switch_set_control(&f.reader, RING_PAUSE);
  assert_false(ring_writer_is_on(&f.writer));
}

static int check(void) {
  struct ring_writer writer;
  struct ring_terms terms;
  return ring_writer_init(&writer, &terms, f.reader.base, f.size);
}

#define REFUSED(field, value, error)          \
  do {                                        \
    struct ring_header before;                \
    memcpy(&before, header(), sizeof before); \
    header()->field = (value);                \
    assert_int_equal(check(), error);         \
    memcpy(header(), &before, sizeof before); \
  } while (0)

static void a_header_out_of_its_limits_is_refused(void **state) {
  (void)state;
  struct ring_writer writer;
  struct ring_terms terms;
  REFUSED(magic, 1, -EBADMSG);
  REFUSED(version, RING_VERSION + 1, -EPROTO);
  REFUSED(slot_count, 0, -EBADMSG);
  REFUSED(slot_count, SLOTS + 1, -EBADMSG);
  REFUSED(slot_count, UINT32_MAX, -EBADMSG);
  REFUSED(slot_bytes, SLOT_BYTES + 8, -EBADMSG);
  REFUSED(slot_bytes, SLOT_BYTES / 2, -EBADMSG);
  REFUSED(slot_bytes, 1U << 31, -EBADMSG);
  header()->slot_bytes = SLOT_BYTES + 8;
  assert_int_equal(
      ring_writer_init(&writer, &terms, f.reader.base, ring_total_bytes(SLOTS, SLOT_BYTES + 8)),
      -EBADMSG);
  header()->slot_bytes = SLOT_BYTES;
  REFUSED(depth_max, 0, -EBADMSG);
  REFUSED(depth_max, RING_DEPTH_MAX + 1, -EBADMSG);
  REFUSED(period_ns, 0, -EBADMSG);
  REFUSED(period_ns, UINT64_MAX, -EBADMSG);
  REFUSED(signal, 9, -EBADMSG);
  REFUSED(signal, 65, -EBADMSG);
  assert_int_equal(ring_writer_init(&writer, &terms, f.reader.base, f.size - 8), -EBADMSG);
  assert_int_equal(ring_writer_init(&writer, &terms, f.reader.base, 64), -EBADMSG);
  assert_int_equal(check(), 0);
}

static void what_is_committed_is_read_in_order(void **state) {
  (void)state;
  struct ring_slot *slot = claim();
  for (uint64_t i = 0; i < 10; i++) assert_true(put(slot, (unsigned)i + 1, i));
  assert_int_equal(drain(0), 10);
  assert_int_equal(drain(10), 0);
}

static void a_record_that_is_not_committed_does_not_exist(void **state) {
  (void)state;
  struct ring_slot *slot = claim();
  struct ring_record *record = ring_writer_reserve(&f.writer, slot);
  assert_non_null(record);
  memset(record, 0xff, sizeof *record);
  assert_int_equal(drain(0), 0);
}

static void records_wrap_behind_padding(void **state) {
  (void)state;
  struct ring_slot *slot = claim();
  uint64_t next = 0;
  for (unsigned round = 0; round < 500; round++) {
    uint64_t from = next;
    for (unsigned i = 0; i < 1 + round % 3; i++, next++)
      assert_true(put(slot, 1 + (unsigned)(next * 37 % RING_DEPTH_MAX), next));
    assert_int_equal(drain(from), next - from);
  }
  assert_true(slot->head > 100 * SLOT_BYTES);
  assert_int_equal(slot->dropped_full, 0);
}

static void a_full_slot_counts_what_it_drops_and_goes_on(void **state) {
  (void)state;
  struct ring_slot *slot = claim();
  unsigned written = 0, refused = 0;
  for (unsigned i = 0; i < 100; i++) put(slot, RING_DEPTH_MAX, written) ? written++ : refused++;
  assert_true(written >= 2 && refused > 0);
  assert_int_equal(slot->dropped_full, refused);
  assert_int_equal(drain(0), written);
  assert_true(put(slot, RING_DEPTH_MAX, 7));
  assert_int_equal(drain(7), 1);
}

static void padding_never_runs_over_what_is_not_read(void **state) {
  (void)state;
  struct ring_slot *slot = claim();
  unsigned count = 0;
  /* Too near the end for the largest record; room at the front for that record, but not for the
     padding too. */
  while (slot->head < 3072) assert_true(put(slot, 1, count++));
  ring_reader_release(&f.reader, 0, 512);
  assert_false(put(slot, 1, count));
  assert_int_equal(slot->dropped_full, 1);
  assert_int_equal(drain(512 / 16), count - 512 / 16);
  assert_true(put(slot, 1, count));
  assert_int_equal(drain(count), 1);
}

static void a_scribbled_head_or_tail_leads_to_no_store_outside(void **state) {
  (void)state;
  static const uint64_t lies[] = {1, 7, SLOT_BYTES - 8, UINT64_MAX, UINT64_MAX - 7, 1ULL << 63};
  struct ring_slot *slot = claim();
  uintptr_t low = (uintptr_t)slot + RING_SLOT_HEADER_BYTES, high = low + SLOT_BYTES;
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    for (unsigned j = 0; j < sizeof lies / sizeof *lies; j++) {
      slot->head = lies[i];
      slot->tail = lies[j];
      struct ring_record *record = ring_writer_reserve(&f.writer, slot);
      if ((lies[i] & ~7ULL) - lies[j] > SLOT_BYTES) assert_null(record);
      if (record == NULL) continue;
      assert_true((uintptr_t)record >= low && (uintptr_t)record % 8 == 0);
      assert_true((uintptr_t)record + sizeof *record + 8 * RING_DEPTH_MAX <= high);
    }
  }
}

static void each_slot_has_one_owner(void **state) {
  (void)state;
  struct ring_slot *taken[SLOTS];
  for (unsigned i = 0; i < SLOTS; i++) {
    assert_int_equal(ring_reader_claimed(&f.reader), i);
    taken[i] = ring_writer_claim(&f.writer, ring_owner(PID, i + 1), name);
    assert_non_null(taken[i]);
    for (unsigned j = 0; j < i; j++) assert_ptr_not_equal(taken[i], taken[j]);
  }
  assert_null(ring_writer_claim(&f.writer, ring_owner(PID, 9), name));
  assert_int_equal(ring_reader_claimed(&f.reader), SLOTS);
}

static void a_released_slot_is_the_readers_until_it_frees_it(void **state) {
  (void)state;
  struct ring_view view;
  struct ring_slot *slot = claim();
  put(slot, 3, 0);
  ring_writer_release(slot);
  ring_reader_look(&f.reader, 0, &view);
  assert_true(view.is_released);
  assert_int_equal(view.pid, PID);
  assert_string_equal(view.name, name);
  assert_int_equal(drain(0), 1);
  ring_reader_free_slot(&f.reader, 0);
  uint32_t generation = slot->generation;
  assert_ptr_equal(claim(), slot);
  assert_int_equal(slot->generation, generation + 1);
  ring_reader_look(&f.reader, 0, &view);
  assert_false(view.is_released);
  assert_true(put(slot, 3, 5));
  assert_int_equal(drain(5), 1);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_fresh_ring_is_accepted_with_its_terms),
      CLAIM(a_header_out_of_its_limits_is_refused),
      CLAIM(what_is_committed_is_read_in_order),
      CLAIM(a_record_that_is_not_committed_does_not_exist),
      CLAIM(records_wrap_behind_padding),
      CLAIM(a_full_slot_counts_what_it_drops_and_goes_on),
      CLAIM(padding_never_runs_over_what_is_not_read),
      CLAIM(a_scribbled_head_or_tail_leads_to_no_store_outside),
      CLAIM(each_slot_has_one_owner),
      CLAIM(a_released_slot_is_the_readers_until_it_frees_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
