/* SPDX-License-Identifier: Apache-2.0 */
/* The outermost layer of the wire, and the first code that reads untrusted bytes:

     | payload length, 4 bytes, big-endian | type, 1 byte | payload ... |

   The length is checked as soon as the header is there, against the limit of its type. So a peer
   that announces two gigabytes is rejected after five bytes, and nothing is buffered for it. Pure:
   it examines the received bytes and has no state; the caller repeats the call when more have
   arrived. */
#include "frame.h"
#include "limits.h"

#include <errno.h>

static uint32_t payload_limit(enum frame_type type) {
  bool is_bulk = type == FRAME_BATCH || type == FRAME_DEBUG_CHUNK;
  return is_bulk ? LIMIT_FRAME_BYTES : LIMIT_CONTROL_BYTES;
}

long frame_decode(struct span stream, struct frame *ret_frame) {
  struct span header;
  if (!span_take(&stream, FRAME_HEADER_BYTES, &header)) return -EAGAIN;
  const uint8_t *bytes = header.data;
  uint32_t len = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                 (uint32_t)bytes[3];
  if (bytes[4] == 0 || bytes[4] >= FRAME_TYPE_END) return -EBADMSG;
  enum frame_type type = (enum frame_type)bytes[4];
  if (len > payload_limit(type)) return -EOVERFLOW;
  struct span payload;
  if (!span_take(&stream, len, &payload)) return -EAGAIN;
  *ret_frame = (struct frame){type, payload};
  return FRAME_HEADER_BYTES + (long)len;
}

void frame_header_encode(enum frame_type type, uint32_t len, uint8_t header[FRAME_HEADER_BYTES]) {
  header[0] = (uint8_t)(len >> 24);
  header[1] = (uint8_t)(len >> 16);
  header[2] = (uint8_t)(len >> 8);
  header[3] = (uint8_t)len;
  header[4] = (uint8_t)type;
}
