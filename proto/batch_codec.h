/* SPDX-License-Identifier: Apache-2.0 */
/* Converts batches to bytes and back, and checks every limit of limits.h in both directions. */
#ifndef PROTO_BATCH_CODEC_H
#define PROTO_BATCH_CODEC_H

#include "batch.h"

struct arena;
struct buf;

/* Appends the protobuf form of BATCH (not compressed) to RET. Nodes are written depth first; the
   caller's order only has to put parents first. Strings are sent clean (text.h). Returns 0 or an
   error. -EOVERFLOW if a limit is exceeded. -EINVAL if an index is outside its table, a parent
   comes late, an ELF module has no id, or a pseudo module has one. -ENOMEM.  Any thread. */
int batch_encode(const struct batch *batch, struct buf *ret);

/* Decodes BYTES into RET_BATCH, with arrays in ARENA. Every index is checked against its table,
   every string against its limit. Returns 0, -EBADMSG (malformed; WHY, a buffer of WHY_LEN bytes,
   has the reason), -EOVERFLOW (over a limit, which WHY names) or -ENOMEM.  Any thread. */
int batch_decode(struct span bytes, struct arena *arena, struct batch *ret_batch, char *why,
                 unsigned long why_len);

/* Returns the sum of the sample counts, which the envelope must have as its records. */
uint64_t batch_record_count(const struct batch *batch);

#endif
