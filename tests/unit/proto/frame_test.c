/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/frame.h"
#include "proto/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static uint8_t bytes[FRAME_HEADER_BYTES + LIMIT_FRAME_BYTES + 1];

static long decode(size_t len, struct frame *ret) {
  return frame_decode(span_of(bytes, len), ret);
}

static void a_frame_is_there_when_its_last_byte_is(void **state) {
  (void)state;
  struct frame frame = {0};
  frame_header_encode(FRAME_ACK, 300, bytes);
  for (size_t len = 0; len < FRAME_HEADER_BYTES + 300; len++) {
    assert_int_equal(decode(len, &frame), -EAGAIN);
    assert_int_equal(frame.type, 0);
  }
  assert_int_equal(decode(FRAME_HEADER_BYTES + 300 + 50, &frame), FRAME_HEADER_BYTES + 300);
  assert_int_equal(frame.type, FRAME_ACK);
  assert_int_equal(frame.payload.len, 300);
  assert_ptr_equal(frame.payload.data, bytes + FRAME_HEADER_BYTES);
}

static void an_empty_payload_is_a_frame(void **state) {
  (void)state;
  struct frame frame = {0};
  frame_header_encode(FRAME_PONG, 0, bytes);
  assert_int_equal(decode(FRAME_HEADER_BYTES, &frame), FRAME_HEADER_BYTES);
  assert_int_equal(frame.payload.len, 0);
}

static void the_header_is_big_endian_and_five_bytes(void **state) {
  (void)state;
  const uint8_t wanted[] = {0x00, 0x01, 0x02, 0x03, FRAME_BATCH};
  frame_header_encode(FRAME_BATCH, 0x010203, bytes);
  assert_memory_equal(bytes, wanted, sizeof wanted);
}

static void an_unknown_type_is_refused_from_the_header_alone(void **state) {
  (void)state;
  struct frame frame;
  for (unsigned type = 0; type < 256; type++) {
    frame_header_encode((enum frame_type)type, 10, bytes);
    bool is_known = type >= FRAME_HELLO && type < FRAME_TYPE_END;
    assert_int_equal(decode(FRAME_HEADER_BYTES, &frame), is_known ? -EAGAIN : -EBADMSG);
  }
}

static void each_type_has_its_limit_and_not_a_byte_more(void **state) {
  (void)state;
  struct frame frame;
  for (unsigned type = FRAME_HELLO; type < FRAME_TYPE_END; type++) {
    bool is_bulk = type == FRAME_BATCH || type == FRAME_DEBUG_CHUNK;
    uint32_t limit = is_bulk ? LIMIT_FRAME_BYTES : LIMIT_CONTROL_BYTES;
    frame_header_encode((enum frame_type)type, limit, bytes);
    assert_int_equal(decode(sizeof bytes, &frame), FRAME_HEADER_BYTES + (long)limit);
    frame_header_encode((enum frame_type)type, limit + 1, bytes);
    assert_int_equal(decode(FRAME_HEADER_BYTES, &frame), -EOVERFLOW);
    frame_header_encode((enum frame_type)type, UINT32_MAX, bytes);
    assert_int_equal(decode(FRAME_HEADER_BYTES, &frame), -EOVERFLOW);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frame_is_there_when_its_last_byte_is),
      cmocka_unit_test(an_empty_payload_is_a_frame),
      cmocka_unit_test(the_header_is_big_endian_and_five_bytes),
      cmocka_unit_test(an_unknown_type_is_refused_from_the_header_alone),
      cmocka_unit_test(each_type_has_its_limit_and_not_a_byte_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
