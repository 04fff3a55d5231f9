/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as earlier versions wrote them, kept for ever: tests/golden/batch/.  v1-redis.batch holds
   450 records of redis-server under its benchmark, taken at 75 Hz. */
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

static void a_batch_of_version_1_reads_as_it_was_written(void **state) {
  (void)state;
  struct buf bytes = {0};
  struct arena arena;
  struct batch batch;
  char why[256] = "";
  uint64_t weight = 0, deepest = 0;
  read_golden("v1-redis.batch", &bytes);
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  if (batch_decode(buf_span(&bytes), &arena, &batch, why, sizeof why) != 0) fail_msg("%s", why);
  for (uint32_t i = 0; i < batch.sample_count; i++) weight += batch.samples[i].weight;
  for (uint32_t i = 0; i < batch.node_count; i++) {
    uint64_t depth = 0;
    for (uint32_t at = i; at != BATCH_NONE; at = batch.nodes[at].parent) depth++;
    if (depth > deepest) deepest = depth;
  }
  assert_int_equal(batch_record_count(&batch), 450);
  assert_true(weight == UINT64_C(450) * 13333333);
  assert_int_equal(batch.node_count, 453);
  assert_int_equal(batch.sample_count, 279);
  assert_int_equal(deepest, 21);
  assert_string_equal(batch.modules[2].path, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
  assert_int_equal(batch.modules[3].kind, MODULE_PSEUDO);
  assert_string_equal(batch.targets[0].service, "redis-server");
  assert_int_equal(batch.counters.dropped[LOSS_RING_FULL], 5);
  arena_fini(&arena);
  buf_fini(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_batch_of_version_1_reads_as_it_was_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
