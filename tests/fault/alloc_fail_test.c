/* SPDX-License-Identifier: Apache-2.0 */
/* Every decoder and encoder of proto/ with its first allocation failing, then its second, and so on
   until none fails. Each time it must return -ENOMEM, leave its output unchanged, and free its
   memory (checked by the sanitizer build). protobuf-c and zstd allocate inside their own library:
   protobuf-c uses our arena, which is covered here; zstd's allocations do not fail here. */
#include "allocations_fail.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/table.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "proto/messages.h"
#include "proto/varint.h"
#include "random_batch_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { ARENA_BYTES = 8 << 20, ATTEMPTS_MAX = 100000, MARK = 0x7ead };

/* Runs ATTEMPT with the n-th allocation failing for n = 1, 2, 3 ... until it succeeds.  Returns how
   many had to be made. */
static unsigned run(int (*attempt)(const void *), const void *input) {
  for (unsigned n = 1; n < ATTEMPTS_MAX; n++) {
    allocations_fail_at(n);
    int got = attempt(input);
    bool has_failed = allocations_fail_at(0);
    if (got == 0 && !has_failed) return n - 1;
    if (got != -ENOMEM) fail_msg("allocation %u failing gives %d", n, got);
  }
  fail_msg("it never succeeds");
  return 0;
}

static const struct random_sizes sizes = {20, 3, 9, 900, 1200, 60};

static int decode_batch(const void *input) {
  const struct buf *bytes = input;
  struct batch batch = {.node_count = MARK};
  struct arena arena;
  char why[128] = "";
  arena_init(&arena, ARENA_BYTES);
  int got = batch_decode(buf_span(bytes), &arena, &batch, why, sizeof why);
  if (got != 0) assert_int_equal(batch.node_count, MARK);
  if (got != 0) assert_string_equal(why, "out of memory");
  arena_fini(&arena);
  return got;
}

static int encode_batch(const void *input) {
  struct buf bytes = {0};
  int got = batch_encode(input, &bytes);
  if (got != 0) assert_int_equal(bytes.len, 0);
  buf_fini(&bytes);
  return got;
}

static void batches_survive_every_failing_allocation(void **state) {
  (void)state;
  struct random_batch made;
  struct buf bytes = {0};
  random_batch_make(&made, &sizes, 1);
  made.threads[0].name = "odd\n"; /* cleaning copies the name, which is an allocation too */
  assert_int_equal(batch_encode(&made.batch, &bytes), 0);
  assert_true(run(encode_batch, &made.batch) > 20);
  assert_true(run(decode_batch, &bytes) > 3);
  buf_fini(&bytes);
  random_batch_fini(&made);
}

static const uint8_t blob[300];
static const struct label labels[] = {{"site", "north"}, {"stage", "be\nta"}};
#define BLOB \
  { blob, sizeof blob }
static const struct message messages[] = {
    {.type = FRAME_HELLO, .hello = {.kernel = "Linux", .label_count = 2, .labels = labels}},
    {.type = FRAME_WELCOME, .welcome = {.page_url = "http://x/"}},
    {.type = FRAME_BATCH, .batch = {.raw_len = 5, .zstd = BLOB}},
    {.type = FRAME_ACK, .ack = {1, 2}},
    {.type = FRAME_REJECT, .reject = {.reason = "why"}},
    {.type = FRAME_DEBUG_WANTED, .debug_wanted = {.id = {blob, 20}, .path = "/x"}},
    {.type = FRAME_DEBUG_CHUNK,
     .debug_chunk = {.id = {blob, 20}, .sha256 = {blob, 32}, .zstd = BLOB}},
    {.type = FRAME_DEBUG_END, .debug_end = {.id = {blob, 20}, .reason = "why"}},
    {.type = FRAME_PING, .ping = {.sampler = "perf"}},
    {.type = FRAME_PONG, .pong = {1}},
    {.type = FRAME_COMMAND, .command = {.verb = "rate", .argument_count = 2, .arguments = labels}},
    {.type = FRAME_RESULT, .result = {.error = "why"}},
    {.type = FRAME_ENROLL, .enroll = {.token = "t", .csr = BLOB}},
    {.type = FRAME_ENROLLED, .enrolled = {.board = "b", .certificate = BLOB, .ca = BLOB}},
    {.type = FRAME_RENEW, .renew = {.csr = BLOB}},
    {.type = FRAME_RENEWED, .renewed = {.certificate = BLOB, .ca = BLOB}},
};

static int encode_message(const void *input) {
  struct buf bytes = {0};
  int got = message_encode(input, &bytes);
  if (got != 0) assert_int_equal(bytes.len, 0);
  buf_fini(&bytes);
  return got;
}

static int decode_message(const void *input) {
  struct message message = {.type = FRAME_TYPE_END};
  struct arena arena;
  char why[128] = "";
  arena_init(&arena, ARENA_BYTES);
  int got = message_decode(input, &arena, &message, why, sizeof why);
  if (got != 0) assert_int_equal(message.type, FRAME_TYPE_END);
  if (got != 0) assert_string_equal(why, "out of memory");
  arena_fini(&arena);
  return got;
}

static void messages_survive_every_failing_allocation(void **state) {
  (void)state;
  _Static_assert(sizeof messages / sizeof *messages == FRAME_TYPE_END - 1, "one of each");
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    struct buf bytes = {0};
    struct frame frame;
    assert_int_equal(message_encode(&messages[i], &bytes), 0);
    assert_int_equal(frame_decode(buf_span(&bytes), &frame), (long)bytes.len);
    assert_true(run(encode_message, &messages[i]) >= 2);
    assert_true(run(decode_message, &frame) >= 1);
    buf_fini(&bytes);
  }
}

static int inflate(const void *input) {
  struct buf raw = {0};
  int got = decompress(buf_span(input), sizeof blob, sizeof blob, &raw);
  if (got != 0) assert_int_equal(raw.len, 0);
  buf_fini(&raw);
  return got;
}

static int deflate(const void *input) {
  struct buf packed = {0};
  int got = compress(span_of(input, sizeof blob), 1, &packed);
  if (got != 0) assert_int_equal(packed.len, 0);
  buf_fini(&packed);
  return got;
}

static int write_varints(const void *input) {
  struct buf column = {0};
  (void)input;
  for (uint64_t i = 0; i < 5000; i++) varint_encode(&column, i);
  int got = column.failed ? -ENOMEM : 0;
  buf_fini(&column);
  return got;
}

static void columns_and_compression_survive_every_failing_allocation(void **state) {
  (void)state;
  struct buf packed = {0};
  assert_int_equal(compress(span_of(blob, sizeof blob), 1, &packed), 0);
  assert_int_equal(run(inflate, &packed), 1);
  assert_int_equal(run(deflate, blob), 1);
  assert_true(run(write_varints, NULL) > 3);
  buf_fini(&packed);
}

static int fill_table(const void *input) {
  struct table table = {0};
  uint32_t cursor;
  int got = 0;
  (void)input;
  for (uint32_t i = 0; got == 0 && i < 1000; i++) {
    got = table_add(&table, i, i);
    if (got != 0) assert_int_equal(table.count, i);
  }
  for (uint32_t i = 0; i < table.count; i++) assert_int_equal(table_find(&table, i, &cursor), i);
  table_fini(&table);
  return got;
}

static void a_table_that_cannot_grow_keeps_what_it_has(void **state) {
  (void)state;
  assert_true(run(fill_table, NULL) > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_survive_every_failing_allocation),
      cmocka_unit_test(messages_survive_every_failing_allocation),
      cmocka_unit_test(columns_and_compression_survive_every_failing_allocation),
      cmocka_unit_test(a_table_that_cannot_grow_keeps_what_it_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
