/* SPDX-License-Identifier: Apache-2.0 */
/* Validates and parses a request head before anything acts on it. Pure. */
#ifndef HTTP_HEAD_GUARD_H
#define HTTP_HEAD_GUARD_H

#include "common/span.h"

enum {
  HEAD_BYTES_MAX = 8 << 10, /* request line and fields, with their line ends */
  HEAD_FIELDS_MAX = 64,
  HEAD_METHOD_BYTES_MAX = 16,
};

/* A parsed head. Spans point into the parsed bytes; absent fields are empty. */
struct http_head {
  struct span method, path, query, host, authorization, if_none_match, origin, fetch_site;
  uint64_t content_length;
  unsigned minor; /* HTTP/1.minor */
  bool has_length, has_host;
  bool is_persistent; /* the peer wants to keep the connection open */
  bool is_forwarded;  /* a proxy forwarded the request */
  bool expects_continue;
  bool accepts_gzip, accepts_open_metrics;
};

struct head_fault {
  int status;         /* of the answer: 400, 417 or 505 */
  const char *detail; /* the fault, in one line */
};

/* Parses the head at the start of RAW into RET. Returns its length in bytes; -EAGAIN if it is
   incomplete and valid so far; or -EBADMSG with FAULT: then the rest of the stream cannot be
   interpreted. Any thread. */
int head_guard_parse(struct span raw, struct http_head *ret, struct head_fault *fault);

#endif
