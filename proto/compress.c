/* SPDX-License-Identifier: Apache-2.0 */
/* zstd, one frame for each call. A few kilobytes can announce gigabytes. So RAW_LEN, from the
   envelope, is compared with the limit before anything is allocated. The output buffer has exactly
   RAW_LEN bytes, and zstd writes only into it. The frame's own claims are only compared, not
   trusted.

   Simple calls are used instead of streams: with known sizes zstd's window is no larger than the
   input, which keeps the board's memory small. A prefix is passed as a dictionary. zstd treats it
   as plain content unless it begins like a trained one, as no batch does. As a "prefix" zstd would
   first digest it, in 27 KiB of newly allocated memory. The function names are those of zlib's
   family, so they are hidden: a program must not offer its own compress() to the libraries it
   loads. */
#include "compress.h"
#include "common/buf.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

void packer_fini(struct packer *packer) {
  ZSTD_freeCCtx(packer->compressor);
  ZSTD_freeDCtx(packer->decompressor);
  *packer = (struct packer){0};
}

static struct span take_prefix(struct packer *packer) {
  struct span prefix = packer->prefix;
  packer->prefix = (struct span){0};
  return prefix;
}

static size_t compress_after(ZSTD_CCtx *compressor, struct span prefix, struct span raw, int level,
                             uint8_t *to, size_t bound) {
  ZSTD_CCtx_reset(compressor, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_refPrefix(compressor, prefix.data, prefix.len);
  return ZSTD_compress2(compressor, to, bound, raw.data, raw.len);
}

int packer_compress(struct packer *packer, struct span raw, int level, struct buf *ret) {
  struct span prefix = take_prefix(packer);
  size_t bound = ZSTD_compressBound(raw.len);
  if (ZSTD_isError(bound)) return -ENOMEM;
  uint8_t *to = buf_reserve(ret, bound);
  if (packer->compressor == NULL) packer->compressor = ZSTD_createCCtx();
  if (to == NULL || packer->compressor == NULL) return -ENOMEM;
  size_t len = prefix.len > 0
                   ? compress_after(packer->compressor, prefix, raw, level, to, bound)
                   : ZSTD_compressCCtx(packer->compressor, to, bound, raw.data, raw.len, level);
  if (ZSTD_isError(len)) return -ENOMEM; /* with room for the bound nothing else can fail */
  ret->len += len;
  return 0;
}

/* A frame that refers to other bytes must have a checksum, which a bit in the byte after zstd's
   magic number shows. It must be a single frame, because a following one might have none. */
static bool is_checked(struct span packed) {
  enum { MAGIC_BYTES = 4, HAS_CHECKSUM = 1 << 2 };
  return packed.len > MAGIC_BYTES && (packed.data[MAGIC_BYTES] & HAS_CHECKSUM) != 0 &&
         ZSTD_findFrameCompressedSize(packed.data, packed.len) == packed.len;
}

int packer_decompress(struct packer *packer, struct span packed, size_t raw_len, size_t max_bytes,
                      struct buf *ret) {
  struct span prefix = take_prefix(packer);
  if (raw_len > max_bytes) return -EOVERFLOW;
  if (prefix.len > 0 && !is_checked(packed)) return -EBADMSG;
  unsigned long long claimed = ZSTD_getFrameContentSize(packed.data, packed.len);
  if (claimed == ZSTD_CONTENTSIZE_ERROR) return -EBADMSG;
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed > raw_len) return -EBADMSG;
  uint8_t *to = buf_reserve(ret, raw_len);
  if (packer->decompressor == NULL) packer->decompressor = ZSTD_createDCtx();
  if (to == NULL || packer->decompressor == NULL) return -ENOMEM;
  size_t len = ZSTD_decompress_usingDict(packer->decompressor, to, raw_len, packed.data, packed.len,
                                         prefix.data, prefix.len);
  if (ZSTD_isError(len))
    return ZSTD_getErrorCode(len) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
  if (len != raw_len) return -EBADMSG;
  ret->len += len;
  return 0;
}

__attribute__((visibility("hidden"))) int compress(struct span raw, int level, struct buf *ret) {
  struct packer packer = {0};
  int error = packer_compress(&packer, raw, level, ret);
  packer_fini(&packer);
  return error;
}

__attribute__((visibility("hidden"))) int decompress(struct span packed, size_t raw_len,
                                                     size_t max_bytes, struct buf *ret) {
  struct packer packer = {0};
  int error = packer_decompress(&packer, packed, raw_len, max_bytes, ret);
  packer_fini(&packer);
  return error;
}
