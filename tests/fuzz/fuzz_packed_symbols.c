/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata -> bytes. Any stream gives an error or output within the limit. */
#include "symbol/packed_symbols.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct buf unpacked = {0};
  if (packed_symbols_unpack(span_of(data, len), &unpacked) == 0 &&
      unpacked.len > PACKED_SYMBOLS_BYTES_MAX)
    abort();
  buf_fini(&unpacked);
  return 0;
}
