/* SPDX-License-Identifier: Apache-2.0 */
/* Frames over a byte stream: 4 bytes of payload length (big-endian), 1 byte of type, payload. */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include "common/span.h"

#include <stdint.h>

enum { FRAME_HEADER_BYTES = 5 };

enum frame_type {
  FRAME_HELLO = 1,
  FRAME_WELCOME = 2,
  FRAME_BATCH = 3,
  FRAME_ACK = 4,
  FRAME_REJECT = 5,
  FRAME_DEBUG_WANTED = 6,
  FRAME_DEBUG_CHUNK = 7,
  FRAME_DEBUG_END = 8,
  FRAME_PING = 9,
  FRAME_PONG = 10,
  FRAME_COMMAND = 11,
  FRAME_RESULT = 12,
  FRAME_ENROLL = 13,
  FRAME_ENROLLED = 14,
  FRAME_RENEW = 15,
  FRAME_RENEWED = 16,
  FRAME_TYPE_END
};

struct frame {
  enum frame_type type;
  struct span payload; /* borrows the stream */
};

/* Finds the first frame in STREAM. Returns its size (header and payload); -EAGAIN if STREAM has
   only a part of it; -EBADMSG for an unknown type; -EOVERFLOW if the length exceeds the limit for
   its type (limits.h). RET_FRAME is unchanged on failure.  Any thread. */
long frame_decode(struct span stream, struct frame *ret_frame);

/* Writes the header for a payload of LEN bytes.  Any thread. */
void frame_header_encode(enum frame_type type, uint32_t len, uint8_t header[FRAME_HEADER_BYTES]);

#endif
