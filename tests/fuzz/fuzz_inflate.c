/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded inflate of every batch, debug piece and stored block. The input is two 16-bit
   numbers, the sender's inflated size and the reader's limit, and the packed bytes. For any input:
   on success the output has exactly the declared size, within the limit. On failure the buffer is
   unchanged. */
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
