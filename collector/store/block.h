/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes rows of (node, count, weight) as columns of varints, the content of a stored block. */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include "common/span.h"
#include "proto/limits.h"

struct buf;
struct packer;
struct store_row;

enum {
  BLOCK_ROWS_MAX = LIMIT_BATCH_SAMPLES,
  BLOCK_BYTES_MAX = LIMIT_BATCH_SAMPLES * 35 + 50, /* at most four varints a row, and the head */
};

/* Appends COUNT rows, ordered by node, to RET. Returns 0; -EOVERFLOW if there are more than
   BLOCK_ROWS_MAX; or -ENOMEM. */
int block_encode(const struct store_row *rows, size_t count, struct buf *ret);

/* Decodes BYTES into ROWS of MAX entries.  Returns the number of rows, -EBADMSG or -EOVERFLOW. */
long block_decode(struct span bytes, struct store_row *rows, size_t max);

/* Appends the form for disk to RET: the columns compressed, or unchanged if compression does not
   shrink them. A reader distinguishes the two by length. Returns 0 or -ENOMEM. */
int block_pack(struct packer *packer, struct span columns, struct buf *ret);
/* Appends the RAW_LEN bytes of columns in PACKED to RET.  Returns 0 or -errno. */
int block_unpack(struct packer *packer, struct span packed, size_t raw_len, struct buf *ret);

#endif
