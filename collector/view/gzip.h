/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in gzip's clothes. */
#ifndef VIEW_GZIP_H
#define VIEW_GZIP_H

#include "common/span.h"

struct buf;
struct cutoff;

/* Appends RAW, packed at LEVEL (zlib's 1 to 9), as a gzip file to RET.  Returns 0, -ENOMEM, or
   -ETIMEDOUT past CUTOFF (NULL: none). */
int gzip(struct span raw, int level, const struct cutoff *cutoff, struct buf *ret);

#endif
