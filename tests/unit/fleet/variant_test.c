/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded batches match the counts, and differ from board to board; on captured windows. */
#include "fleet/recordings.h"
#include "fleet/spans_of_time.h"
#include "fleet/variant.h"

#include "common/arena.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct recordings recordings;

static int open_recordings(void **state) {
  static const struct recordings_floor floor = {1, 1};
  (void)state;
  return recordings_add(&recordings, TEST_DATA "/fleet/captured/python3.spool", &floor);
}

static int close_recordings(void **state) {
  (void)state;
  recordings_fini(&recordings);
  return 0;
}

static void only_windows_that_have_enough_are_taken(void **state) {
  static const struct recordings_floor too_much = {UINT64_MAX, 1};
  struct recordings none = {0};
  (void)state;
  assert_int_equal(recordings_add(&none, TEST_DATA "/fleet/captured/python3.spool", &too_much),
                   -ENODATA);
  assert_int_equal(none.count, 0);
  assert_true(recordings.count > 1);
  recordings_fini(&none);
}

static struct tally decode(const struct envelope *envelope) {
  struct tally tally = {0};
  struct buf raw = {0};
  struct arena arena;
  struct batch batch;
  char why[128];
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(decompress(envelope->zstd, envelope->raw_len, LIMIT_BATCH_RAW_BYTES, &raw), 0);
  assert_int_equal(batch_decode(buf_span(&raw), &arena, &batch, why, sizeof why), 0);
  assert_int_equal(batch.counters.run, 9);
  assert_int_equal(batch_record_count(&batch), envelope->records);
  for (uint32_t i = 0; i < batch.sample_count; i++) {
    tally.records += batch.samples[i].count;
    tally.weight_ns += batch.samples[i].weight;
  }
  arena_fini(&arena);
  buf_fini(&raw);
  return tally;
}

/* With KINDS kinds. Returns the number of batches whose weight differs from the previous one. */
static uint64_t compare_tallies(uint32_t kinds) {
  struct variant_frame frame = {.counters.run = 9};
  struct variant_room room = {0};
  uint64_t unlike = 0, last = 0;
  for (uint64_t board = 0; board < 5; board++)
    for (uint64_t seq = 1; seq <= 20; seq++) {
      struct variant variant = {&recordings, 3, board, seq, kinds};
      struct envelope envelope;
      assert_int_equal(variant_encode(&variant, &frame, &room, &envelope), 0);
      struct tally told = variant_tally(&variant), found = decode(&envelope);
      assert_int_equal(told.records, found.records);
      assert_int_equal(told.weight_ns, found.weight_ns);
      unlike += told.weight_ns != last;
      last = told.weight_ns;
    }
  variant_room_fini(&room);
  return unlike;
}

static void a_batch_holds_what_its_tally_says(void **state) {
  (void)state;
  assert_true(compare_tallies(0) > 90);
  assert_true(compare_tallies(3) > 40); /* made once, sent again and again */
}

/* Encodes window SEQ, each a minute later, in ROOM, and compares it with FRAME. */
static void compare_frame(uint64_t seq, struct variant_room *room) {
  static const uint64_t minute_ns = 60 * UINT64_C(1000000000);
  struct variant variant = {&recordings, 3, 1, seq, 1};
  struct variant_frame frame = {.boot_id = {(uint8_t)seq, 2, 3},
                                .start_boottime_ns = seq * minute_ns,
                                .end_boottime_ns = (seq + 1) * minute_ns,
                                .start_walltime_ns = (seq + 7) * minute_ns,
                                .end_walltime_ns = (seq + 8) * minute_ns,
                                .counters = {.run = 9 + seq, .produced = 1000 * seq}};
  struct envelope envelope;
  struct arena arena;
  struct batch batch;
  char why[LIMIT_VALUE_BYTES];
  assert_int_equal(variant_encode_raw(&variant, &frame, room, &envelope), 0);
  assert_int_equal(envelope.raw_len, room->raw.len);
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(batch_decode(buf_span(&room->raw), &arena, &batch, why, sizeof why), 0);
  assert_memory_equal(batch.boot_id, frame.boot_id, sizeof frame.boot_id);
  assert_int_equal(batch.start_boottime_ns, frame.start_boottime_ns);
  assert_int_equal(batch.end_boottime_ns, frame.end_boottime_ns);
  assert_int_equal(batch.start_walltime_ns, frame.start_walltime_ns);
  assert_int_equal(batch.end_walltime_ns, frame.end_walltime_ns);
  assert_int_equal(batch.counters.run, frame.counters.run);
  assert_int_equal(batch.counters.produced, frame.counters.produced);
  assert_int_equal(batch_record_count(&batch), envelope.records);
  struct buf whole = {0}; /* as a daemon would have made it */
  assert_int_equal(batch_encode(&batch, &whole), 0);
  assert_int_equal(whole.len, room->raw.len);
  assert_memory_equal(whole.data, room->raw.data, whole.len);
  buf_fini(&whole);
  arena_fini(&arena);
}

static void a_body_that_is_made_once_stands_in_each_frame(void **state) {
  struct variant_room room = {0};
  (void)state;
  for (uint64_t seq = 1; seq <= 300; seq++) compare_frame(seq, &room);
  variant_room_fini(&room);
}

static void weights_are_whole_grains_as_boards_tell_them(void **state) {
  (void)state;
  for (uint64_t board = 0; board < 5; board++)
    for (uint64_t seq = 1; seq <= 20; seq++) {
      static struct batch_sample samples[LIMIT_BATCH_SAMPLES];
      const struct variant variant = {&recordings, 3, board, seq, 0};
      uint64_t place;
      const struct recording *recording = variant_samples(&variant, samples, &place);
      assert_true(recording->grain_ns > 100000); /* a quarter of the period at 199 Hz */
      for (uint32_t i = 0; i < recording->batch.sample_count; i++)
        if (samples[i].count > 0) assert_int_equal(samples[i].weight % recording->grain_ns, 0);
    }
}

static void a_quantile_is_not_shorter_than_what_it_covers(void **state) {
  struct spans_of_time spans = {0};
  (void)state;
  assert_int_equal(spans_quantile(&spans, 0.5), 0);
  for (uint64_t ns = 1; ns <= 1000; ns++) spans_add(&spans, ns * 1000);
  for (uint64_t part = 1; part <= 10; part++) {
    uint64_t found = spans_quantile(&spans, (double)part / 10);
    assert_in_range(found, part * 100000, part * 107000);
  }
  assert_int_equal(spans_quantile(&spans, 1), 1000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_windows_that_have_enough_are_taken),
      cmocka_unit_test(a_batch_holds_what_its_tally_says),
      cmocka_unit_test(a_body_that_is_made_once_stands_in_each_frame),
      cmocka_unit_test(weights_are_whole_grains_as_boards_tell_them),
      cmocka_unit_test(a_quantile_is_not_shorter_than_what_it_covers),
  };
  return cmocka_run_group_tests(tests, open_recordings, close_recordings);
}
