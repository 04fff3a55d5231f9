/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in gzip's clothes. */
#ifndef VIEW_GZIP_H
#define VIEW_GZIP_H

#include "common/span.h"

struct buf;

/* Appends RAW as a gzip file to RET.  Returns 0 or -ENOMEM. */
int gzip(struct span raw, struct buf *ret);

#endif
