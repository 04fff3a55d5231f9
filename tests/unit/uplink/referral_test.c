/* SPDX-License-Identifier: Apache-2.0 */
/* A board's messages if the collector has the previous batch, and their effect there. */
#include "proto/compress.h"
#include "proto/limits.h"
#include "uplink/referral.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RUN = 7, WINDOW_BYTES = 3000 };

static uint8_t window[LIMIT_PREFIX_BYTES + 1]; /* without repetitions */
static struct prefix last;
static struct buf zstd, shorter;
static struct envelope batch;

static int set_up(void **state) {
  (void)state;
  uint32_t random = 1;
  for (size_t i = 0; i < sizeof window; i++) {
    random = random * 1664525 + 1013904223;
    window[i] = (uint8_t)(random >> 24);
  }
  return 0;
}

static int reset(void **state) {
  (void)state;
  prefix_forget(&last);
  buf_fini(&zstd);
  buf_fini(&shorter);
  return 0;
}

/* The window SEQ of RUN, of LEN bytes that begin with the number. */
static void send_window(uint64_t run, uint64_t seq, size_t len, uint32_t bytes_max) {
  window[0] = (uint8_t)seq;
  buf_clear(&zstd);
  buf_clear(&shorter);
  assert_int_equal(compress(span_of(window, len), 1, &zstd), 0);
  batch =
      (struct envelope){.run = run, .seq = seq, .raw_len = (uint32_t)len, .zstd = buf_span(&zstd)};
  referral_make(&last, bytes_max, &batch, &shorter);
}

static int inflate(struct span prefix, struct buf *ret) {
  struct packer packer = {.prefix = prefix};
  int rc = packer_decompress(&packer, batch.zstd, batch.raw_len, LIMIT_BATCH_RAW_BYTES, ret);
  packer_fini(&packer);
  return rc;
}

static void a_window_like_the_last_one_takes_few_bytes_and_comes_back(void **state) {
  (void)state;
  struct prefix theirs = {0};
  struct buf raw = {0};
  for (uint64_t seq = 1; seq <= 4; seq++) {
    send_window(RUN, seq, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
    assert_int_equal(batch.after, seq - 1);
    assert_true(seq == 1 ? batch.zstd.len > WINDOW_BYTES : batch.zstd.len < 100);
    buf_clear(&raw);
    assert_int_equal(inflate(buf_span(&theirs.raw), &raw), 0);
    assert_true(span_is_equal(buf_span(&raw), span_of(window, WINDOW_BYTES)));
    prefix_keep(&theirs, batch.run, batch.seq, buf_span(&raw));
  }
  prefix_forget(&theirs);
  buf_fini(&raw);
}

static void with_another_one_it_is_refused_and_not_misread(void **state) {
  (void)state;
  struct buf raw = {0};
  send_window(RUN, 1, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  send_window(RUN, 2, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  assert_int_equal(batch.after, 1);
  window[100] ^= 1;
  assert_int_equal(inflate(span_of(window, WINDOW_BYTES), &raw), -EBADMSG);
  window[100] ^= 1;
  assert_int_equal(inflate((struct span){0}, &raw), -EBADMSG);
  assert_int_equal(raw.len, 0);
  buf_fini(&raw);
}

static void of_another_run_it_stands_alone(void **state) {
  (void)state;
  send_window(RUN, 1, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  send_window(RUN + 1, 2, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  assert_int_equal(batch.after, 0);
  send_window(RUN + 1, 3, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  assert_int_equal(batch.after, 2);
}

static void to_one_that_is_too_large_nothing_refers(void **state) {
  (void)state;
  const struct {
    size_t first_len;
    uint32_t bytes_max;
    uint64_t after;
  } cases[] = {
      {LIMIT_PREFIX_BYTES, UINT32_MAX, 1},
      {LIMIT_PREFIX_BYTES + 1, UINT32_MAX, 0},
      {WINDOW_BYTES, WINDOW_BYTES, 1},
      {WINDOW_BYTES, WINDOW_BYTES - 1, 0},
      {WINDOW_BYTES, 0, 0}, /* a collector without support for it */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    send_window(RUN, 1, cases[i].first_len, cases[i].bytes_max);
    send_window(RUN, 2, WINDOW_BYTES, cases[i].bytes_max);
    assert_int_equal(batch.after, cases[i].after);
    prefix_forget(&last);
  }
}

static void what_does_not_inflate_is_sent_as_it_is(void **state) {
  (void)state;
  send_window(RUN, 1, WINDOW_BYTES, LIMIT_PREFIX_BYTES);
  batch = (struct envelope){.run = RUN, .seq = 2, .raw_len = 9, .zstd = span_of_string("no zstd")};
  referral_make(&last, LIMIT_PREFIX_BYTES, &batch, &shorter);
  assert_int_equal(batch.after, 0);
  assert_true(span_is_equal(batch.zstd, span_of_string("no zstd")));
  assert_int_equal(last.seq, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_window_like_the_last_one_takes_few_bytes_and_comes_back, reset),
      cmocka_unit_test_teardown(with_another_one_it_is_refused_and_not_misread, reset),
      cmocka_unit_test_teardown(of_another_run_it_stands_alone, reset),
      cmocka_unit_test_teardown(to_one_that_is_too_large_nothing_refers, reset),
      cmocka_unit_test_teardown(what_does_not_inflate_is_sent_as_it_is, reset),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
