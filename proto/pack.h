/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the module's structs to the generated ones, for the encoders of this folder. Private to
   them. */
#ifndef PROTO_PACK_H
#define PROTO_PACK_H

#include "batch.h"
#include "common/arena.h"
#include "payloads.h"
#include "profile.pb-c.h"

struct buf;

/* The state of building one message. The first error is kept; later steps have no effect. */
struct pack {
  struct arena arena; /* memory of the generated structs */
  int error;
};

void pack_init(struct pack *pack, size_t limit_bytes);
void pack_fini(struct pack *pack);

/* Records ERROR unless there is one already. */
void pack_fail(struct pack *pack, int error);

/* Returns COUNT zeroed items of SIZE bytes, or NULL with -ENOMEM recorded. */
void *pack_array(struct pack *pack, size_t count, size_t size);

/* Returns TEXT (NULL: empty), or a clean copy if it is not clean; -EOVERFLOW if it exceeds
   LIMIT. */
char *pack_text(struct pack *pack, const char *text, size_t limit_bytes);

ProtobufCBinaryData pack_bytes(struct pack *pack, struct span bytes, size_t limit_bytes);
Fleetprof__Label **pack_labels(struct pack *pack, const struct label *labels, size_t count);
Fleetprof__Boot **pack_boots(struct pack *pack, const struct boot_time *boots, size_t count);
Fleetprof__Counters *pack_counters(struct pack *pack, const struct counters *counters);
/* NULL if EFFORT is empty. */
Fleetprof__Effort *pack_effort(struct pack *pack, const struct effort *effort);

/* Appends MESSAGE to RET.  Returns 0 or the first error. */
int pack_finish(struct pack *pack, const ProtobufCMessage *message, struct buf *ret);

#endif
