/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of (node, count, weight) <-> columns of varints: what a stored block is made of. */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include "common/span.h"
#include "proto/limits.h"

struct buf;
struct packer;
struct store_row;

enum {
  BLOCK_ROWS_MAX = LIMIT_BATCH_SAMPLES,
  BLOCK_BYTES_MAX = LIMIT_BATCH_SAMPLES * 35 + 50, /* four varints a row at most, and the head */
};

/* Appends COUNT rows, ordered by node, to RET.  Returns 0, -EOVERFLOW when
   there are too many or a node would need more than 32 bits, -ENOMEM. */
int block_encode(const struct store_row *rows, size_t count, struct buf *ret);

/* Decodes BYTES into ROWS of MAX entries.  Returns the number of rows, -EBADMSG or -EOVERFLOW. */
long block_decode(struct span bytes, struct store_row *rows, size_t max);

/* What is kept on disk: the columns compressed, or as they are where that is no smaller (a
   reader tells by the length).  Returns 0 or -ENOMEM. */
int block_pack(struct packer *packer, struct span columns, struct buf *ret);
/* Appends the RAW_LEN bytes of columns in PACKED to RET.  Returns 0 or -errno. */
int block_unpack(struct packer *packer, struct span packed, size_t raw_len, struct buf *ret);

#endif
