/* SPDX-License-Identifier: Apache-2.0 */
/* Every frame's payload as a C struct, so that the generated code is private to this folder.
   Batches are sent in an envelope; batch_codec handles its content. */
#ifndef PROTO_MESSAGES_H
#define PROTO_MESSAGES_H

#include "frame.h"
#include "payloads.h"

struct arena;
struct buf;

struct message {
  enum frame_type type;
  union {
    struct hello hello;
    struct welcome welcome;
    struct envelope batch;
    struct ack ack;
    struct reject reject;
    struct debug_wanted debug_wanted;
    struct debug_chunk debug_chunk;
    struct debug_end debug_end;
    struct ping ping;
    struct pong pong;
    struct command command;
    struct result result;
    struct enroll enroll;
    struct enrolled enrolled;
    struct renew renew;
    struct renewed renewed;
  };
};

/* Appends the complete frame, including its header, to RET, or nothing on failure. NULL strings are
   sent empty, others clean (text.h). Returns 0, -EOVERFLOW if a string, span or size exceeds its
   limit, -EINVAL for an unknown type, -ENOMEM.  Any thread. */
int message_encode(const struct message *message, struct buf *ret);

/* Decodes the payload of FRAME. Strings (never NULL, always valid UTF-8 without control characters)
   and spans are in ARENA. Returns 0, -EBADMSG or -EOVERFLOW (reason in WHY), or -ENOMEM.
   Any thread. */
int message_decode(const struct frame *frame, struct arena *arena, struct message *ret_message,
                   char *why, unsigned long why_len);

#endif
