/* SPDX-License-Identifier: Apache-2.0 */
/* zstd compression. This is the only bounded inflate routine, for batches, debug chunks and store
   blocks, so no path can omit the limit. */
#ifndef PROTO_COMPRESS_H
#define PROTO_COMPRESS_H

#include "common/span.h"

struct buf;

/* zstd's own memory, reused between calls: allocating it takes ten microseconds of each call, most
   of the cost for a few kilobytes. All-zero is empty. One thread at a time. */
struct packer {
  void *compressor, *decompressor;
  struct span prefix; /* the next call refers to these bytes (prefix.h), borrowed, and clears it */
};
void packer_fini(struct packer *packer);

/* As compress and decompress, below. A frame that refers to a prefix inflates only with the same
   bytes, and must have a checksum. Without one, or with other bytes, the result is -EBADMSG. */
int packer_compress(struct packer *packer, struct span raw, int level, struct buf *ret);
int packer_decompress(struct packer *packer, struct span packed, size_t raw_len, size_t max_bytes,
                      struct buf *ret);

/* Appends RAW compressed at LEVEL (1 on boards, 3 in the store) to RET.  Returns 0 or -ENOMEM. */
int compress(struct span raw, int level, struct buf *ret);

/* Appends exactly RAW_LEN inflated bytes of PACKED to RET. Returns 0, -EBADMSG if PACKED is not
   zstd or does not inflate to RAW_LEN bytes, -EOVERFLOW if RAW_LEN exceeds MAX_BYTES, -ENOMEM.
   Never allocates more than RAW_LEN for the output. */
int decompress(struct span packed, size_t raw_len, size_t max_bytes, struct buf *ret);

#endif
