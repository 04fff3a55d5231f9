/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an HTTP/1.1 answer.  Pure. */
#ifndef FETCH_ANSWER_HEAD_H
#define FETCH_ANSWER_HEAD_H

#include "common/span.h"

enum { ANSWER_HEAD_BYTES_MAX = 32 << 10 };

/* How the end of a body is known. */
enum answer_framing { ANSWER_NO_BODY, ANSWER_BY_LENGTH, ANSWER_BY_CHUNKS, ANSWER_BY_CLOSE };

struct answer_head {
  int status;
  enum answer_framing framing;
  uint64_t length;    /* of Content-Length, 0 without: of a HEAD's answer, too, which has no body */
  bool is_persistent; /* another request may follow */
};

/* Reads the head that BYTES begin with; WAS_HEAD says that the request was a HEAD.  Returns how
   long it is; -EAGAIN when it is not whole; -EBADMSG when it is none, says two things of its body's
   length, or is longer than ANSWER_HEAD_BYTES_MAX.  Any thread. */
int answer_head_decode(struct span bytes, bool was_head, struct answer_head *ret);

/* Finds the first field NAME in the whole HEAD.  Returns whether there is one, its value in RET.
   Any thread. */
bool answer_head_field(struct span head, const char *name, struct span *ret);

#endif
