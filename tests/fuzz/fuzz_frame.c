/* SPDX-License-Identifier: Apache-2.0 */
/* A stream as received on a connection: frames are cut off its front until a frame is rejected or
   incomplete. Checks that a frame lies inside the stream, keeps its limit, and that its header is
   unchanged after writing it again. */
#include "proto/frame.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(struct span stream, const struct frame *frame, long taken) {
  uint8_t header[FRAME_HEADER_BYTES];
  if (frame->payload.len > LIMIT_FRAME_BYTES) abort();
  if (taken != FRAME_HEADER_BYTES + (long)frame->payload.len) abort();
  if (frame->payload.data != stream.data + FRAME_HEADER_BYTES) abort();
  frame_header_encode(frame->type, (uint32_t)frame->payload.len, header);
  if (memcmp(header, stream.data, sizeof header) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span stream = span_of(data, len), skipped;
  for (;;) {
    struct frame frame;
    long taken = frame_decode(stream, &frame);
    if (taken == -EAGAIN || taken == -EBADMSG || taken == -EOVERFLOW) return 0;
    if (taken < FRAME_HEADER_BYTES) abort();
    check(stream, &frame, taken);
    if (!span_take(&stream, (size_t)taken, &skipped)) abort();
  }
}
