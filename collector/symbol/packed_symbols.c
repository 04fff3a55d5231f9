/* SPDX-License-Identifier: Apache-2.0 */
/* An xz stream gives the length of its contents only at its end, and that value is untrusted. So
   the output grows with the data, up to the limit. A decompression bomb costs at most the limit's
   bytes and the time to write them. */
#include "packed_symbols.h"

#include <errno.h>
#include <lzma.h>

#define UNPACKER_BYTES_MAX (80ULL << 20) /* xz -9 takes 65 MiB */

enum { STEP_BYTES = 256 << 10 };

static int to_errno(lzma_ret code) {
  switch (code) {
  case LZMA_OK:
  case LZMA_STREAM_END:
    return 0;
  case LZMA_MEM_ERROR:
    return -ENOMEM;
  case LZMA_MEMLIMIT_ERROR:
    return -EOVERFLOW;
  default:
    return -EBADMSG;
  }
}

/* Unpacks one more step. Returns LZMA_OK, LZMA_STREAM_END, or an error. */
static lzma_ret step(lzma_stream *stream, struct buf *ret) {
  uint8_t *to = buf_reserve(ret, STEP_BYTES);
  if (to == NULL) return LZMA_MEM_ERROR;
  stream->next_out = to;
  stream->avail_out = STEP_BYTES;
  lzma_ret code = lzma_code(stream, LZMA_FINISH);
  ret->len += STEP_BYTES - stream->avail_out;
  return code;
}

int packed_symbols_unpack(struct span packed, struct buf *ret) {
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_ret code = lzma_stream_decoder(&stream, UNPACKER_BYTES_MAX, 0);
  stream.next_in = packed.data;
  stream.avail_in = packed.len;
  while (code == LZMA_OK && ret->len <= PACKED_SYMBOLS_BYTES_MAX) code = step(&stream, ret);
  lzma_end(&stream);
  if (code == LZMA_OK) return -EOVERFLOW;
  return to_errno(code);
}
