/* SPDX-License-Identifier: Apache-2.0 */
/* Our structs -> the generated ones, for the encoders of this folder.  Not for others. */
#ifndef PROTO_PACK_H
#define PROTO_PACK_H

#include "batch.h"
#include "common/arena.h"
#include "payloads.h"
#include "profile.pb-c.h"

struct buf;

/* Building one message.  The first error sticks; later steps are harmless. */
struct pack {
  struct arena arena; /* what the generated structs point to */
  int error;
};

void pack_init(struct pack *pack, size_t limit_bytes);
void pack_fini(struct pack *pack);

/* Remembers ERROR unless one came before. */
void pack_fail(struct pack *pack, int error);

/* Returns COUNT zeroed things of SIZE bytes, or NULL with -ENOMEM remembered. */
void *pack_array(struct pack *pack, size_t count, size_t size);

/* Returns TEXT (NULL: empty), as a clean copy when it is not clean; -EOVERFLOW over LIMIT. */
char *pack_text(struct pack *pack, const char *text, size_t limit_bytes);

ProtobufCBinaryData pack_bytes(struct pack *pack, struct span bytes, size_t limit_bytes);
Fleetprof__Label **pack_labels(struct pack *pack, const struct label *labels, size_t count);
Fleetprof__Boot **pack_boots(struct pack *pack, const struct boot_time *boots, size_t count);
Fleetprof__Counters *pack_counters(struct pack *pack, const struct counters *counters);
/* NULL when nothing is said. */
Fleetprof__Effort *pack_effort(struct pack *pack, const struct effort *effort);

/* Appends MESSAGE to RET.  Returns 0 or the first error. */
int pack_finish(struct pack *pack, const ProtobufCMessage *message, struct buf *ret);

#endif
