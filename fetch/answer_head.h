/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an HTTP/1.1 answer.  Pure. */
#ifndef FETCH_ANSWER_HEAD_H
#define FETCH_ANSWER_HEAD_H

#include "common/span.h"

enum { ANSWER_HEAD_BYTES_MAX = 32 << 10 };

/* How the end of a body is determined. */
enum answer_framing { ANSWER_NO_BODY, ANSWER_BY_LENGTH, ANSWER_BY_CHUNKS, ANSWER_BY_CLOSE };

struct answer_head {
  int status;
  enum answer_framing framing;
  uint64_t length;    /* Content-Length, 0 without; also for a HEAD's answer, which has no body */
  bool is_persistent; /* another request may follow */
};

/* Reads the head at the start of BYTES; WAS_HEAD: the request was a HEAD. Returns its length;
   -EAGAIN if it is incomplete; -EBADMSG if it is invalid, has contradictory body lengths, or is
   longer than ANSWER_HEAD_BYTES_MAX.  Any thread. */
int answer_head_decode(struct span bytes, bool was_head, struct answer_head *ret);

/* Finds the first field NAME in the complete HEAD. True if there is one; RET is its value.
   Any thread. */
bool answer_head_field(struct span head, const char *name, struct span *ret);

#endif
