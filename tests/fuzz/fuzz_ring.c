/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one slot from an untrusted target, decoded as records and as pairs, until the end or
   the first invalid one. Every yielded record must be safe to use. */
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
