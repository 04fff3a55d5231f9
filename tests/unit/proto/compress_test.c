/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "proto/compress.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RAW_BYTES = 100000 };

static uint8_t raw[RAW_BYTES];
static struct buf packed, inflated;

static int set_up(void **state) {
  (void)state;
  for (size_t i = 0; i < RAW_BYTES; i++) raw[i] = (uint8_t)(i * i >> 7);
  return 0;
}

static int reset(void **state) {
  (void)state;
  buf_fini(&packed);
  buf_fini(&inflated);
  return 0;
}

static void bytes_of_any_length_come_back(void **state) {
  (void)state;
  const size_t lens[] = {0, 1, 2, 100, 4096, RAW_BYTES};
  for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
    for (int level = 1; level <= 3; level += 2) {
      buf_clear(&packed);
      buf_clear(&inflated);
      buf_append_string(&inflated, "before");
      assert_int_equal(compress(span_of(raw, lens[i]), level, &packed), 0);
      assert_int_equal(decompress(buf_span(&packed), lens[i], RAW_BYTES, &inflated), 0);
      assert_int_equal(inflated.len, 6 + lens[i]);
      assert_memory_equal(inflated.data + 6, raw, lens[i]);
    }
  }
}

static void a_length_over_the_limit_is_refused_before_anything_is_made(void **state) {
  (void)state;
  assert_int_equal(compress(span_of(raw, RAW_BYTES), 1, &packed), 0);
  assert_int_equal(decompress(buf_span(&packed), RAW_BYTES, RAW_BYTES - 1, &inflated), -EOVERFLOW);
  assert_null(inflated.data);
  assert_int_equal(decompress(buf_span(&packed), SIZE_MAX, RAW_BYTES, &inflated), -EOVERFLOW);
  assert_null(inflated.data);
}

static void any_other_length_than_announced_is_refused(void **state) {
  (void)state;
  assert_int_equal(compress(span_of(raw, 5000), 1, &packed), 0);
  assert_int_equal(decompress(buf_span(&packed), 4999, RAW_BYTES, &inflated), -EBADMSG);
  assert_int_equal(decompress(buf_span(&packed), 5001, RAW_BYTES, &inflated), -EBADMSG);
  assert_int_equal(decompress(buf_span(&packed), 0, RAW_BYTES, &inflated), -EBADMSG);
  assert_int_equal(inflated.len, 0);
}

static void a_bomb_inflates_no_further_than_announced(void **state) {
  (void)state;
  uint8_t *zeros = calloc(64, 1 << 20);
  assert_non_null(zeros);
  assert_int_equal(compress(span_of(zeros, 64 << 20), 1, &packed), 0);
  free(zeros);
  assert_true(packed.len < 16384);
  assert_int_equal(decompress(buf_span(&packed), 1000, 1 << 20, &inflated), -EBADMSG);
  assert_true(inflated.cap <= 1024);
}

static void every_cut_and_every_stranger_is_refused(void **state) {
  (void)state;
  assert_int_equal(compress(span_of(raw, 3000), 1, &packed), 0);
  for (size_t len = 0; len < packed.len; len++)
    assert_int_equal(decompress(span_of(packed.data, len), 3000, RAW_BYTES, &inflated), -EBADMSG);
  assert_int_equal(decompress(span_of(raw, 3000), 3000, RAW_BYTES, &inflated), -EBADMSG);
  assert_int_equal(inflated.len, 0);
}

static int inflate_after(struct span prefix, size_t len) {
  struct packer packer = {.prefix = prefix};
  buf_clear(&inflated);
  int error = packer_decompress(&packer, buf_span(&packed), len, RAW_BYTES, &inflated);
  packer_fini(&packer);
  return error;
}

/* A frame without references inflates with any prefix; a frame that claims references must be
   checked. */
static void what_refers_to_others_is_one_frame_with_a_checksum(void **state) {
  (void)state;
  const struct span prefix = span_of(raw, 1000), bytes = span_of(raw + 500, 1000);
  struct packer packer = {.prefix = prefix};
  assert_int_equal(packer_compress(&packer, bytes, 1, &packed), 0);
  packer_fini(&packer);
  assert_int_equal(inflate_after(prefix, bytes.len), 0);
  assert_memory_equal(inflated.data, bytes.data, bytes.len);
  assert_non_null(buf_reserve(&packed, packed.len));
  buf_append(&packed, packed.data, packed.len); /* a second frame */
  assert_int_equal(inflate_after(prefix, 2 * bytes.len), -EBADMSG);
  buf_clear(&packed);
  assert_int_equal(compress(bytes, 1, &packed), 0);
  assert_int_equal(inflate_after((struct span){0}, bytes.len), 0);
  assert_int_equal(inflate_after(prefix, bytes.len), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(bytes_of_any_length_come_back, reset),
      cmocka_unit_test_teardown(a_length_over_the_limit_is_refused_before_anything_is_made, reset),
      cmocka_unit_test_teardown(any_other_length_than_announced_is_refused, reset),
      cmocka_unit_test_teardown(a_bomb_inflates_no_further_than_announced, reset),
      cmocka_unit_test_teardown(what_refers_to_others_is_one_frame_with_a_checksum, reset),
      cmocka_unit_test_teardown(every_cut_and_every_stranger_is_refused, reset),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
