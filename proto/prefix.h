/* SPDX-License-Identifier: Apache-2.0 */
/* The inflated bytes of the last batch that both ends of a connection have: what the frame of the
   next one may refer to (zstd calls that a prefix).  A program does this window much of what it did
   in the last one. */
#ifndef PROTO_PREFIX_H
#define PROTO_PREFIX_H

#include "common/buf.h"

struct prefix {
  uint64_t run, seq; /* of the batch; seq 0: there is none */
  struct buf raw;
};

/* Makes PREFIX the batch SEQ of RUN, a copy of RAW; none where RAW is over LIMIT_PREFIX_BYTES or
   there is no memory for it. */
void prefix_keep(struct prefix *prefix, uint64_t run, uint64_t seq, struct span raw);
void prefix_forget(struct prefix *prefix);

#endif
