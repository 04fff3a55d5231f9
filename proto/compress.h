/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes <-> fewer bytes (zstd).  The one bounded inflate routine: batches, debug chunks and store
   blocks all come through here, so no path can forget the cap. */
#ifndef PROTO_COMPRESS_H
#define PROTO_COMPRESS_H

#include "common/span.h"

struct buf;

/* zstd's own memory, kept between calls: to make it anew takes ten microseconds of each call, which
   is most of what a few kilobytes cost.  All-zero is empty.  One thread at a time. */
struct packer {
  void *compressor, *decompressor;
  struct span prefix; /* what the next call refers to (prefix.h), borrowed; that call clears it */
};
void packer_fini(struct packer *packer);

/* As compress and decompress, below.  A frame that refers to a prefix inflates with the same bytes
   alone: it must have a checksum, and with others, as without one, it is -EBADMSG. */
int packer_compress(struct packer *packer, struct span raw, int level, struct buf *ret);
int packer_decompress(struct packer *packer, struct span packed, size_t raw_len, size_t max_bytes,
                      struct buf *ret);

/* Appends RAW compressed at LEVEL (1 on boards, 3 in the store) to RET.  Returns 0 or -ENOMEM. */
int compress(struct span raw, int level, struct buf *ret);

/* Appends exactly RAW_LEN inflated bytes of PACKED to RET.  Returns 0, -EBADMSG when PACKED is not
   zstd or does not inflate to RAW_LEN bytes, -EOVERFLOW when RAW_LEN is over MAX_BYTES, -ENOMEM.
   Never allocates more than RAW_LEN for the output, whatever PACKED claims. */
int decompress(struct span packed, size_t raw_len, size_t max_bytes, struct buf *ret);

#endif
