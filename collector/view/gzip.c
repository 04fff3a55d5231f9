/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's file form is a gzipped message, so that is what the exporter writes; everything else is
   compressed by whoever transports it.

   The whole message is in memory before it is packed, and zlib says beforehand how large the result
   can be, so one call does it: no stream, no state, nothing to resume. */
#include "gzip.h"

#include "common/buf.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

enum {
  LEVEL = 6,
  GZIP_WINDOW = 15 + 16, /* zlib's way to ask for the gzip header */
  MEMORY_LEVEL = 8,
};

int gzip(struct span raw, struct buf *ret) {
  z_stream stream = {0};
  if (raw.len > UINT_MAX / 2) return -ENOMEM;
  if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return -ENOMEM;
  uLong bound = deflateBound(&stream, raw.len);
  uint8_t *out = buf_reserve(ret, bound);
  int error = -ENOMEM;
  if (out != NULL) {
    stream.next_in = (Bytef *)(uintptr_t)raw.data;
    stream.avail_in = (uInt)raw.len;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    error = deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
    if (error == 0) ret->len += stream.total_out;
  }
  deflateEnd(&stream);
  return error;
}
