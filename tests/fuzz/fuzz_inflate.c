/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded inflate that every batch, debug piece and stored block comes through.  The input is
   two 16-bit numbers, what the sender says it inflates to and what the reader allows, and the
   packed bytes.  Whatever those claim: on success the output is exactly as long as was said, never
   over what is allowed, and on failure what was in the buffer is all that is in it. */
#include "common/buf.h"
#include "proto/compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const char before[] = "before";
  const size_t kept = sizeof before - 1;
  if (len < 4) return 0;
  size_t raw_len = (size_t)data[0] << 8 | data[1];
  size_t max_bytes = (size_t)data[2] << 8 | data[3];
  struct buf out = {0};
  buf_append(&out, before, kept);
  int result = decompress(span_of(data + 4, len - 4), raw_len, max_bytes, &out);
  if (result != 0 && result != -EBADMSG && result != -EOVERFLOW && result != -ENOMEM) abort();
  if ((result == -EOVERFLOW) != (raw_len > max_bytes)) abort();
  if (result == 0 && (out.len != kept + raw_len || out.len > kept + max_bytes)) abort();
  if (result != 0 && out.len != kept) abort();
  if (memcmp(out.data, before, kept) != 0) abort();
  buf_fini(&out);
  return 0;
}
