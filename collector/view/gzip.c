/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's file format is a gzipped message, so the exporter writes that; other answers are
   compressed by the transport.

   The whole message is in memory before it is compressed, and zlib gives an upper bound of the
   result. It is compressed in pieces only to check the cutoff between them. */
#include "gzip.h"

#include "common/buf.h"
#include "common/cutoff.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

enum {
  GZIP_WINDOW = 15 + 16, /* zlib's way to request the gzip header */
  MEMORY_LEVEL = 9,
  PIECE_BYTES = 1 << 20, /* between two checks of the cutoff: some 30 ms */
};

/* STREAM has room for the compressed form of LEN bytes. */
static int pack(z_stream *stream, size_t len, const struct cutoff *cutoff) {
  int result = Z_OK;
  while (result == Z_OK) {
    size_t left = len - stream->total_in;
    if (cutoff_is_past(cutoff)) return -ETIMEDOUT;
    stream->avail_in = (uInt)(left < PIECE_BYTES ? left : PIECE_BYTES);
    result = deflate(stream, left > PIECE_BYTES ? Z_NO_FLUSH : Z_FINISH);
  }
  return result == Z_STREAM_END ? 0 : -ENOMEM;
}

int gzip(struct span raw, int level, const struct cutoff *cutoff, struct buf *ret) {
  z_stream stream = {0};
  if (raw.len > UINT_MAX / 2) return -ENOMEM;
  if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return -ENOMEM;
  uLong bound = deflateBound(&stream, raw.len);
  uint8_t *out = buf_reserve(ret, bound);
  int error = -ENOMEM;
  if (out != NULL) {
    stream.next_in = (Bytef *)(uintptr_t)raw.data;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    error = pack(&stream, raw.len, cutoff);
    if (error == 0) ret->len += stream.total_out;
  }
  deflateEnd(&stream);
  return error;
}
