/* SPDX-License-Identifier: Apache-2.0 */
/* Batches written by each version, kept forever: tests/golden/batch/. Both hold a window of
   redis-server under its benchmark. v1-redis.batch has 450 records at 75 Hz, each of one period.
   v2-redis.batch has 279 by perf at 99 Hz, of different weights, with kernel time beside them. */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void read_golden(const char *name, struct buf *ret) {
  char path[512];
  uint8_t block[4096];
  snprintf(path, sizeof path, "%s/golden/batch/%s", TEST_DATA, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  for (size_t len; (len = fread(block, 1, sizeof block, file)) > 0;) buf_append(ret, block, len);
  fclose(file);
}

struct golden {
  const char *name, *service, *module; /* number 2 */
  uint64_t records, weight_ns;
  uint32_t nodes, samples, deepest;
};

static uint32_t deepest_of(const struct batch *batch) {
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < batch->node_count; i++) {
    uint32_t depth = 0;
    for (uint32_t at = i; at != BATCH_NONE; at = batch->nodes[at].parent) depth++;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

static void expect_golden(const struct golden *golden, struct arena *arena, struct batch *ret) {
  struct buf bytes = {0};
  char why[256] = "";
  uint64_t weight = 0;
  read_golden(golden->name, &bytes);
  if (batch_decode(buf_span(&bytes), arena, ret, why, sizeof why) != 0) fail_msg("%s", why);
  for (uint32_t i = 0; i < ret->sample_count; i++) weight += ret->samples[i].weight;
  assert_int_equal(batch_record_count(ret), golden->records);
  assert_true(weight == golden->weight_ns);
  assert_int_equal(ret->node_count, golden->nodes);
  assert_int_equal(ret->sample_count, golden->samples);
  assert_int_equal(deepest_of(ret), golden->deepest);
  assert_string_equal(ret->modules[2].path, golden->module);
  assert_string_equal(ret->targets[0].service, golden->service);
  buf_fini(&bytes);
}

static void a_batch_of_version_1_reads_as_it_was_written(void **state) {
  (void)state;
  static const struct golden golden = {.name = "v1-redis.batch",
                                       .service = "redis-server",
                                       .module = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                       .records = 450,
                                       .weight_ns = UINT64_C(450) * 13333333,
                                       .nodes = 453,
                                       .samples = 279,
                                       .deepest = 21};
  struct arena arena;
  struct batch batch;
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  expect_golden(&golden, &arena, &batch);
  assert_int_equal(batch.modules[3].kind, MODULE_PSEUDO);
  assert_int_equal(batch.counters.dropped[LOSS_RING_FULL], 5);
  arena_fini(&arena);
}

static void a_batch_of_version_2_reads_as_it_was_written(void **state) {
  (void)state;
  static const struct golden golden = {.name = "v2-redis.batch",
                                       .service = "redis-server",
                                       .module = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                       .records = 279,
                                       .weight_ns = UINT64_C(4033067670),
                                       .nodes = 286,
                                       .samples = 175,
                                       .deepest = 17};
  struct arena arena;
  struct batch batch;
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  expect_golden(&golden, &arena, &batch);
  assert_int_equal(batch.targets[0].asked_mhz, 99000);
  assert_int_equal(batch.targets[0].achieved_mhz, 96842);
  arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_batch_of_version_1_reads_as_it_was_written),
      cmocka_unit_test(a_batch_of_version_2_reads_as_it_was_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
