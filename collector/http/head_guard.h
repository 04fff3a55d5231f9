/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a request head byte by byte before anything acts on it.  Pure. */
#ifndef HTTP_HEAD_GUARD_H
#define HTTP_HEAD_GUARD_H

#include "common/span.h"

enum {
  HEAD_BYTES_MAX = 8 << 10, /* request line and fields, with their line ends */
  HEAD_FIELDS_MAX = 64,
  HEAD_METHOD_BYTES_MAX = 16,
};

/* What a well-formed head says.  Spans point into the bytes that were parsed; absent fields are
   empty. */
struct http_head {
  struct span method, path, query, host, authorization, if_none_match, origin, fetch_site;
  uint64_t content_length;
  unsigned minor; /* HTTP/1.minor */
  bool has_length, has_host;
  bool is_persistent; /* the peer would like to send another request */
  bool is_forwarded;  /* a proxy says that it passed this on */
  bool expects_continue;
  bool accepts_gzip, accepts_open_metrics;
};

struct head_fault {
  int status;         /* the answer it deserves: 400, 417 or 505 */
  const char *detail; /* what is wrong, in one line */
};

/* Reads the head at the start of RAW.  Returns its length in bytes with what it says in RET;
   -EAGAIN when it has not ended yet and nothing is wrong so far; -EBADMSG with FAULT: then nothing
   that follows on the connection has a meaning.  Any thread. */
int head_guard_parse(struct span raw, struct http_head *ret, struct head_fault *fault);

#endif
