/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one slot, as a target could leave them, taken for records and for pairs: each is
   decoded until the end or the first that makes no sense; what is yielded must be usable as it is.
 */
#include "ring/ring_reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

typedef long decode(const uint8_t *data, size_t len, struct ring_sample *ret);

static void decode_all(decode *step, const uint8_t *data, size_t len) {
  struct ring_sample sample;
  for (size_t at = 0; at < len;) {
    long size = step(data + at, len - at, &sample);
    if (size < 0) return;
    if (size == 0 || (size_t)size > len - at || sample.depth > RING_DEPTH_MAX) abort();
    if (sample.depth > 0 && sample.weight == 0) abort();
    at += (size_t)size;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  decode_all(ring_record_decode, data, len);
  decode_all(ring_pair_decode, data, len);
  return 0;
}
