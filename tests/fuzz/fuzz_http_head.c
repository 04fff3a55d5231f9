/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a request head. An accepted head must be unambiguous for a second parser: one end of
   head, no byte that parsers treat differently, spans inside the input. */
#include "http/gate.h"
#include "http/head_guard.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool is_true) {
  if (!is_true) abort();
}

static void require_within(struct span part, const uint8_t *data, size_t len) {
  if (part.len > 0) require(part.data >= data && part.data + part.len <= data + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct http_head head;
  struct head_fault fault = {0};
  int result = head_guard_parse(span_of(data, len), &head, &fault);
  if (result < 0) {
    require(result == -EAGAIN || (result == -EBADMSG && fault.status >= 400 && fault.detail));
    return 0;
  }
  size_t head_len = (size_t)result;
  require(head_len >= 4 && head_len <= len && head_len <= HEAD_BYTES_MAX);
  require(memcmp(data + head_len - 4, "\r\n\r\n", 4) == 0);
  require(memchr(data, '\0', head_len) == NULL);
  for (size_t i = 1; i < head_len; i++) require((data[i] == '\n') == (data[i - 1] == '\r'));
  require_within(head.method, data, head_len);
  require_within(head.path, data, head_len);
  require_within(head.query, data, head_len);
  require_within(head.host, data, head_len);
  require_within(head.authorization, data, head_len);
  require_within(head.if_none_match, data, head_len);
  require(head.path.len > 0 && head.path.data[0] == '/');
  require(head.minor == 0 || head.has_host);
  gate_is_loopback_host(head.host);
  return 0;
}
