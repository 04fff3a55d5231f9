/* SPDX-License-Identifier: Apache-2.0 */
/* Batch <-> bytes, every limit of limits.h checked on both ways. */
#ifndef PROTO_BATCH_CODEC_H
#define PROTO_BATCH_CODEC_H

#include "batch.h"

struct arena;
struct buf;

/* Appends the protobuf form of BATCH (not compressed) to RET.  Nodes are written depth first; the
   caller's order only has to put parents first.  Strings are sent clean (text.h).  Returns 0,
   -EOVERFLOW when a limit is exceeded, -EINVAL when an index points outside its table, a parent
   comes late, or an ELF module has no id (a pseudo module: has one), -ENOMEM.  Any thread. */
int batch_encode(const struct batch *batch, struct buf *ret);

/* Decodes BYTES into RET_BATCH, whose arrays live in ARENA.  Every index is checked against its
   table, every string against its limit.  Returns 0, -EBADMSG (malformed; WHY, a buffer of
   WHY_LEN bytes, says what), -EOVERFLOW (over a limit; WHY names it) or -ENOMEM.  Any thread. */
int batch_decode(struct span bytes, struct arena *arena, struct batch *ret_batch, char *why,
                 unsigned long why_len);

/* Returns the sum of the sample counts: what the envelope must announce as records. */
uint64_t batch_record_count(const struct batch *batch);

#endif
