/* SPDX-License-Identifier: Apache-2.0 */
/* Batches that only a hostile board sends: the generated structs are unpacked, changed and packed
   again, so each case differs from a good batch in one detail. */
#include "common/arena.h"
#include "common/buf.h"
#include "profile.pb-c.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"
#include "random_batch_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct random_sizes sizes = {4, 2, 3, 50, 60, 20};

static struct buf good;
static Fleetprof__Batch *batch; /* changed by each case */
static char long_text[LIMIT_PATH_BYTES + 2];
static uint8_t long_bytes[LIMIT_BATCH_RAW_BYTES];
static char why[256];

static int set_up(void **state) {
  (void)state;
  struct random_batch made;
  random_batch_make(&made, &sizes, 11);
  assert_int_equal(batch_encode(&made.batch, &good), 0);
  random_batch_fini(&made);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  buf_fini(&good);
  return 0;
}

static char *text_of(size_t len) {
  memset(long_text, 'x', sizeof long_text);
  long_text[len] = '\0';
  return long_text;
}

static int decode(const uint8_t *bytes, size_t len, size_t arena_bytes) {
  struct arena arena;
  struct batch decoded;
  arena_init(&arena, arena_bytes);
  why[0] = '\0';
  int got = batch_decode(span_of(bytes, len), &arena, &decoded, why, sizeof why);
  arena_fini(&arena);
  return got;
}

static int decode_changed(void) {
  size_t len = fleetprof__batch__get_packed_size(batch);
  uint8_t *bytes = malloc(len);
  assert_non_null(bytes);
  fleetprof__batch__pack(batch, bytes);
  int got = decode(bytes, len, LIMIT_BATCH_UNPACK_BYTES);
  free(bytes);
  return got;
}

/* Changes one detail of a good batch and expects ERROR and WORDS; the change is undone by hand if
   it would break freeing. */
#define expect(error, words, change, undo)                                          \
  do {                                                                              \
    batch = fleetprof__batch__unpack(NULL, good.len, good.data);                    \
    assert_non_null(batch);                                                         \
    Fleetprof__Batch kept = *batch;                                                 \
    change;                                                                         \
    int got = decode_changed();                                                     \
    undo;                                                                           \
    *batch = kept;                                                                  \
    fleetprof__batch__free_unpacked(batch, NULL);                                   \
    if (got != (error)) fail_msg("%d instead of %d: %s", got, error, why);          \
    if (strstr(why, words) == NULL) fail_msg("'%s' does not say '%s'", why, words); \
  } while (0)

/* For changes inside a submessage: FIELD gets VALUE, and its own value back. */
#define expect_field(error, words, type, field, new_value)                             \
  do {                                                                                 \
    type kept_field;                                                                   \
    expect(error, words, (kept_field = field, field = new_value), field = kept_field); \
  } while (0)

/* Without weights: they must then be encoded as in version 1. */
static void be_of_version_1(void) {
  batch->sample_steps.len = batch->weight_steps.len = 0;
  batch->weight_a_record = 0;
}

#define BYTES(array, count) ((ProtobufCBinaryData){.len = (count), .data = (array)})

static void an_unchanged_batch_is_taken(void **state) {
  (void)state;
  expect(0, "", (void)0, (void)0);
}

static void the_frame_of_the_window_must_make_sense(void **state) {
  (void)state;
  expect(-EBADMSG, "cut short", batch->end = 0, (void)0);
  expect(-EBADMSG, "boot id is 15 bytes", batch->boot_id.len = 15, (void)0);
  expect(-EBADMSG, "ends before it starts", batch->end_boottime_ns = 0, (void)0);
  expect(-EOVERFLOW, "window end", batch->end_boottime_ns = UINT64_MAX, (void)0);
  expect(-EOVERFLOW, "wall time", batch->start_walltime_ns = UINT64_MAX, (void)0);
  expect(-EBADMSG, "counters are missing", batch->counters = NULL, (void)0);
}

static void counters_must_fit_and_be_known(void **state) {
  (void)state;
  static uint8_t too_many[LOSS_REASON_COUNT + 1], cut[] = {0x01, 0x80};
  static uint8_t large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  expect_field(-EOVERFLOW, "produced", uint64_t, batch->counters->produced, UINT64_MAX);
  expect_field(-EOVERFLOW, "shipped", uint64_t, batch->counters->shipped, UINT64_MAX);
  expect_field(-EBADMSG, "loss reason 11 is not known", ProtobufCBinaryData,
               batch->counters->dropped, BYTES(too_many, sizeof too_many));
  expect_field(-EBADMSG, "end inside a number", ProtobufCBinaryData, batch->counters->dropped,
               BYTES(cut, sizeof cut));
  expect_field(-EOVERFLOW, "dropped", ProtobufCBinaryData, batch->counters->dropped,
               BYTES(large, sizeof large));
}

static void modules_are_checked_one_by_one(void **state) {
  (void)state;
  expect_field(-EBADMSG, "unknown kind 2", uint32_t, batch->modules[0]->kind, 2);
  expect_field(-EBADMSG, "only ELF modules have an id", uint32_t, batch->modules[0]->kind, 1);
  expect_field(-EBADMSG, "only ELF modules have an id", uint32_t, batch->modules[3]->kind, 0);
  expect_field(-EOVERFLOW, "LIMIT_PATH_BYTES", char *, batch->modules[0]->path,
               text_of(LIMIT_PATH_BYTES + 1));
  expect_field(0, "", char *, batch->modules[0]->path, text_of(LIMIT_PATH_BYTES));
  expect_field(-EBADMSG, "module path holds control", char *, batch->modules[0]->path,
               (char[]){"a\nb"});
  expect_field(-EOVERFLOW, "LIMIT_MODULE_ID_BYTES", ProtobufCBinaryData, batch->modules[0]->id,
               BYTES(long_bytes, LIMIT_MODULE_ID_BYTES + 1));
  expect_field(-EOVERFLOW, "module size", uint64_t, batch->modules[0]->size, UINT64_MAX);
}

static void targets_and_threads_are_checked_one_by_one(void **state) {
  (void)state;
  static Fleetprof__Label label;
  static Fleetprof__Label *labels[LIMIT_LABELS + 1];
  fleetprof__label__init(&label);
  for (size_t i = 0; i <= LIMIT_LABELS; i++) labels[i] = &label;
  expect_field(-EBADMSG, "module 5 is not in the table of 4", uint32_t, batch->targets[0]->module,
               5);
  expect_field(-EOVERFLOW, "service is 129 bytes long, LIMIT_NAME_BYTES is 128", char *,
               batch->targets[0]->service, text_of(LIMIT_NAME_BYTES + 1));
  expect_field(-EOVERFLOW, "LIMIT_PATH_BYTES", char *, batch->targets[0]->exe,
               text_of(LIMIT_PATH_BYTES + 1));
  expect_field(-EOVERFLOW, "LIMIT_VALUE_BYTES", char *, batch->targets[0]->why,
               text_of(LIMIT_VALUE_BYTES + 1));
  expect_field(-EBADMSG, "sampler holds", char *, batch->targets[0]->sampler, (char[]){"\xff"});
  expect(-EOVERFLOW, "LIMIT_LABELS",
         (batch->targets[0]->n_labels = LIMIT_LABELS + 1, batch->targets[0]->labels = labels),
         (batch->targets[0]->n_labels = 0, batch->targets[0]->labels = NULL));
  expect(-EBADMSG, "a label has no name",
         (batch->targets[0]->n_labels = 1, batch->targets[0]->labels = labels),
         (batch->targets[0]->n_labels = 0, batch->targets[0]->labels = NULL));
  expect_field(-EBADMSG, "target 2 is not in the table of 2", uint32_t, batch->threads[1]->target,
               2);
  expect_field(-EOVERFLOW, "thread name", char *, batch->threads[1]->name,
               text_of(LIMIT_NAME_BYTES + 1));
}

static void a_wrong_node_is_refused_by_its_column(void **state) {
  (void)state;
  static uint8_t child_below[51]; /* fifty zeros: each node a child of the one before */
  static uint8_t many[LIMIT_STACK_DEPTH + 1], ones[LIMIT_STACK_DEPTH + 1];
  memset(ones, 1, sizeof ones);
  expect(-EOVERFLOW, "LIMIT_BATCH_NODES", batch->node_count = LIMIT_BATCH_NODES + 1, (void)0);
  expect(-EBADMSG, "column node_depths has", batch->node_depths.len = 49, (void)0);
  expect(-EBADMSG, "column node_modules has", batch->node_modules.len = 0, (void)0);
  expect(-EBADMSG, "column node_addresses", batch->node_addresses.len--, (void)0);
  expect(-EBADMSG, "column node_depths has 1 bytes too many", batch->node_count = 49, (void)0);
  expect(0, "", batch->node_depths = BYTES(child_below, 50), (void)0);
  expect(-EBADMSG, "column node_depths has 1 bytes too many",
         batch->node_depths = BYTES(child_below, 51), (void)0);
  expect_field(-EBADMSG, "node 0 hangs above the root", uint8_t, batch->node_depths.data[0], 1);
  expect_field(-EBADMSG, "node 1 hangs above the root", uint8_t, batch->node_depths.data[1], 2);
  expect_field(-EBADMSG, "before there is one", uint8_t, batch->node_modules.data[0], 0);
  expect_field(-EBADMSG, "column node_modules: 5 is not in the table of 5", uint8_t,
               batch->node_modules.data[7], 5);
  expect(-EOVERFLOW, "LIMIT_STACK_DEPTH",
         (batch->node_count = sizeof many, batch->node_depths = BYTES(many, sizeof many),
          batch->node_modules = BYTES(ones, sizeof ones),
          batch->node_addresses = BYTES(many, sizeof many)),
         (void)0);
}

static void a_wrong_sample_is_refused_by_its_column(void **state) {
  (void)state;
  expect(-EOVERFLOW, "LIMIT_BATCH_SAMPLES", batch->sample_count = LIMIT_BATCH_SAMPLES + 1, (void)0);
  expect(-EBADMSG, "column sample_nodes has", batch->sample_nodes.len--, (void)0);
  expect(-EBADMSG, "column sample_threads has", batch->sample_threads.len--, (void)0);
  expect(-EBADMSG, "column sample_types has", batch->sample_types.len--, (void)0);
  expect(-EBADMSG, "column sample_counts has", batch->sample_counts.len--, (void)0);
  expect(-EBADMSG, "column sample_steps has", batch->sample_steps.len--, (void)0);
  expect(-EBADMSG, "column sample_weights has 0 bytes", be_of_version_1(), (void)0);
  expect(-EBADMSG, "column sample_nodes has 1 bytes too many", batch->sample_count--, (void)0);
  expect_field(-EBADMSG, "node is not in the table of 50", uint8_t, batch->sample_nodes.data[3],
               50);
  expect_field(-EBADMSG, "column sample_threads: 3 is not in", uint8_t,
               batch->sample_threads.data[3], 3);
  expect_field(-EBADMSG, "column sample_types: 2 is not in", uint8_t, batch->sample_types.data[3],
               SAMPLE_TYPE_COUNT);
  static uint8_t zero[1], fifty[] = {50};
  expect(-EBADMSG, "node is not in the table of 50",
         (batch->sample_count = 1, batch->sample_nodes = BYTES(fifty, 1),
          batch->sample_threads.len = 1, batch->sample_types.len = 1, batch->sample_counts.len = 1,
          batch->weight_steps = BYTES(zero, 1), batch->sample_steps = BYTES(zero, 1)),
         (void)0);
  expect(-EBADMSG, "node is not in the table of 0",
         (batch->node_count = 0, batch->node_depths.len = 0, batch->node_modules.len = 0,
          batch->node_addresses.len = 0),
         (void)0);
}

static void a_wrong_step_is_refused(void **state) {
  (void)state;
  static uint8_t steps[] = {0, 2, 4}, cells[] = {0, 1, 3, 0}, many[] = {0, 0, 0, 0, 0};
  static uint8_t cut[] = {0x80};
  const uint32_t four = 4;
  expect(-EBADMSG, "column sample_steps: 3 is not in the table of 3",
         (batch->sample_count = four, batch->sample_nodes.len = four,
          batch->sample_threads.len = four, batch->sample_types.len = four,
          batch->sample_counts.len = four, batch->weight_steps = BYTES(steps, sizeof steps),
          batch->sample_steps = BYTES(cells, sizeof cells)),
         (void)0);
  expect(-EBADMSG, "column weight_steps has 1 bytes too many",
         (batch->sample_count = four, batch->sample_nodes.len = four,
          batch->sample_threads.len = four, batch->sample_types.len = four,
          batch->sample_counts.len = four, batch->weight_steps = BYTES(many, sizeof many),
          batch->sample_steps = BYTES(cells, 4)),
         (void)0);
  expect(-EBADMSG, "column weight_steps ends inside a cell",
         batch->weight_steps = BYTES(cut, sizeof cut), (void)0);
  expect(-EBADMSG, "is not in the table of 0", batch->weight_steps.len = 0, (void)0);
  expect(-EBADMSG, "as sample_weights and as sample_steps", batch->sample_weights = BYTES(steps, 1),
         (void)0);
}

/* They would be ignored: the weights of version 1 have another meaning. */
static void steps_that_no_sample_has_are_refused(void **state) {
  (void)state;
  static uint8_t zeros[60]; /* a weight each */
  assert_int_equal(sizes.samples, sizeof zeros);
  expect(0, "", (be_of_version_1(), batch->sample_weights = BYTES(zeros, sizeof zeros)), (void)0);
  expect(-EBADMSG, "lack their sample_steps",
         (be_of_version_1(), batch->sample_weights = BYTES(zeros, sizeof zeros),
          batch->weight_steps = BYTES(zeros, 1)),
         (void)0);
  expect(-EBADMSG, "lack their sample_steps",
         (be_of_version_1(), batch->sample_weights = BYTES(zeros, sizeof zeros),
          batch->weight_a_record = 1),
         (void)0);
}

static void sums_that_overflow_are_refused(void **state) {
  (void)state;
  static uint8_t counts[12], weights[12]; /* of two samples */
  static const uint8_t half[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40}; /* 2^62 */
  static const uint8_t whole[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
  memcpy(counts, half, sizeof half); /* the next is 2^62 again, which makes 2^63 */
  uint8_t two[2 * sizeof half];
  memcpy(two, half, sizeof half);
  memcpy(two + sizeof half, half, sizeof half);
  expect(-EBADMSG, "sum of the sample counts overflows",
         (batch->sample_count = 2, batch->sample_nodes.len = 2, batch->sample_threads.len = 2,
          batch->sample_types.len = 2, batch->sample_counts = BYTES(two, sizeof two),
          be_of_version_1(), batch->sample_weights = BYTES(weights, 2)),
         (void)0);
  memcpy(weights, whole, sizeof whole); /* zigzag of 2^62 */
  weights[10] = 1;                      /* and less than nothing for the second: wraps */
  counts[0] = counts[1] = 0;
  expect(-EBADMSG, "sum of the sample weights overflows",
         (batch->sample_count = 2, batch->sample_nodes.len = 2, batch->sample_threads.len = 2,
          batch->sample_types.len = 2, batch->sample_counts = BYTES(counts, 2), be_of_version_1(),
          batch->sample_weights = BYTES(weights, 11)),
         (void)0);
}

/* Writes COUNT empty submessages of the field NUMBER. */
static int decode_empties(unsigned number, size_t count) {
  for (size_t i = 0; i < count; i++) {
    long_bytes[2 * i] = (uint8_t)(number << 3 | 2);
    long_bytes[2 * i + 1] = 0;
  }
  return decode(long_bytes, 2 * count, LIMIT_BATCH_UNPACK_BYTES);
}

static void crowds_are_counted_before_they_are_unpacked(void **state) {
  (void)state;
  const size_t crowd = LIMIT_BATCH_RAW_BYTES / 2;
  assert_int_equal(decode_empties(7, crowd), -EOVERFLOW);
  assert_non_null(strstr(why, "LIMIT_BATCH_MODULES is 4096"));
  assert_int_equal(decode_empties(8, crowd), -EOVERFLOW);
  assert_non_null(strstr(why, "LIMIT_BATCH_TARGETS is 1024"));
  assert_int_equal(decode_empties(9, crowd), -EOVERFLOW);
  assert_non_null(strstr(why, "LIMIT_BATCH_THREADS is 8192"));
  assert_int_equal(decode_empties(11, crowd), -EOVERFLOW); /* the same field again and again */
  assert_non_null(strstr(why, "budget"));
}

static void a_batch_over_its_length_is_not_even_looked_at(void **state) {
  (void)state;
  struct arena arena;
  struct batch decoded;
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(
      batch_decode(span_of(NULL, LIMIT_BATCH_RAW_BYTES + 1), &arena, &decoded, why, sizeof why),
      -EOVERFLOW);
  assert_non_null(strstr(why, "LIMIT_BATCH_RAW_BYTES"));
  assert_int_equal(arena.used_bytes, 0);
  arena_fini(&arena);
}

static void a_small_budget_is_refused_by_name_at_every_size(void **state) {
  (void)state;
  int got = -EOVERFLOW;
  for (size_t budget = 0; got != 0 && budget < 1 << 20; budget += 64) {
    got = decode(good.data, good.len, budget);
    if (got != 0 && got != -EOVERFLOW) fail_msg("%d with %zu bytes: %s", got, budget, why);
    if (got != 0) assert_non_null(strstr(why, "budget"));
  }
  assert_int_equal(got, 0);
}

static void fields_of_later_versions_are_skipped(void **state) {
  (void)state;
  static const uint8_t later[] = {
      0xc8, 0x01, 0x05,                          /* 25: a varint */
      0xd2, 0x01, 0x02, 'h', 'i',                /* 26: bytes */
      0xd9, 0x01, 0,    0,   0,   0, 0, 0, 0, 0, /* 27: eight bytes */
      0xe5, 0x01, 0,    0,   0,   0,             /* 28: four bytes */
  };
  struct buf bytes = {0};
  buf_append(&bytes, good.data, good.len);
  buf_append(&bytes, later, sizeof later);
  assert_int_equal(decode(bytes.data, bytes.len, LIMIT_BATCH_UNPACK_BYTES), 0);
  bytes.data[good.len] = 0xab; /* a wire type that protobuf dropped long ago */
  assert_int_equal(decode(bytes.data, bytes.len, LIMIT_BATCH_UNPACK_BYTES), -EBADMSG);
  assert_non_null(strstr(why, "not a protobuf message"));
  buf_fini(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_unchanged_batch_is_taken),
      cmocka_unit_test(the_frame_of_the_window_must_make_sense),
      cmocka_unit_test(counters_must_fit_and_be_known),
      cmocka_unit_test(modules_are_checked_one_by_one),
      cmocka_unit_test(targets_and_threads_are_checked_one_by_one),
      cmocka_unit_test(a_wrong_node_is_refused_by_its_column),
      cmocka_unit_test(a_wrong_sample_is_refused_by_its_column),
      cmocka_unit_test(a_wrong_step_is_refused),
      cmocka_unit_test(steps_that_no_sample_has_are_refused),
      cmocka_unit_test(sums_that_overflow_are_refused),
      cmocka_unit_test(crowds_are_counted_before_they_are_unpacked),
      cmocka_unit_test(a_batch_over_its_length_is_not_even_looked_at),
      cmocka_unit_test(a_small_budget_is_refused_by_name_at_every_size),
      cmocka_unit_test(fields_of_later_versions_are_skipped),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
