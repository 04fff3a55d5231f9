/* SPDX-License-Identifier: Apache-2.0 */
/* The inflated bytes of the last batch that both ends of a connection have. The frame of the next
   one may refer to them (zstd calls this a prefix), because a program's windows are similar. */
#ifndef PROTO_PREFIX_H
#define PROTO_PREFIX_H

#include "common/buf.h"

struct prefix {
  uint64_t run, seq; /* of the batch; seq 0: none */
  struct buf raw;
};

/* Sets PREFIX to the batch SEQ of RUN, with a copy of RAW; to none if RAW exceeds
   LIMIT_PREFIX_BYTES or memory is short. */
void prefix_keep(struct prefix *prefix, uint64_t run, uint64_t seq, struct span raw);
void prefix_forget(struct prefix *prefix);

#endif
