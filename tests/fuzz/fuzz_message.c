/* SPDX-License-Identifier: Apache-2.0 */
/* One message: the first byte is its type, the rest its payload. An accepted message must be
   accepted again after encoding, and then be unchanged. */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/messages.h"

#include <errno.h>
#include <stdlib.h>

enum { ARENA_BYTES = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_resending(const struct message *message) {
  struct buf first = {0}, second = {0};
  struct arena arena;
  struct message again;
  struct frame frame;
  char why[256];
  arena_init(&arena, ARENA_BYTES);
  if (message_encode(message, &first) != 0) abort();
  if (frame_decode(buf_span(&first), &frame) != (long)first.len) abort();
  if (message_decode(&frame, &arena, &again, why, sizeof why) != 0) abort();
  if (message_encode(&again, &second) != 0) abort();
  if (!span_is_equal(buf_span(&first), buf_span(&second))) abort();
  arena_fini(&arena);
  buf_fini(&first);
  buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct message message;
  char why[256] = "";
  if (len == 0) return 0;
  const struct frame frame = {(enum frame_type)data[0], span_of(data + 1, len - 1)};
  arena_init(&arena, ARENA_BYTES);
  int got = message_decode(&frame, &arena, &message, why, sizeof why);
  if (got == 0)
    check_resending(&message);
  else if ((got != -EBADMSG && got != -EOVERFLOW) || why[0] == '\0')
    abort();
  arena_fini(&arena);
  return 0;
}
