/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded batch with its memory, to be passed on. */
#ifndef PROTO_OPENED_BATCH_H
#define PROTO_OPENED_BATCH_H

#include "batch.h"
#include "common/arena.h"
#include "common/buf.h"
#include "compress.h"
#include "messages.h"

/* Scratch memory for opening batches, reused. All-zero is empty. */
struct opening_room {
  struct buf raw; /* the last batch, inflated */
  struct packer packer;
};
void opening_room_fini(struct opening_room *room);

struct opened_batch {
  struct arena arena; /* may hold more data, as long as the batch lives */
  struct batch batch;
};

/* Inflates and decodes the batch in ENVELOPE, which refers to PREFIX or, if that is empty, stands
   alone. Returns 0; -EBADMSG or -EOVERFLOW with the reason in WHY; or -ENOMEM.  Any thread, each
   with its own ROOM. */
int opened_batch_make(const struct envelope *envelope, struct span prefix,
                      struct opening_room *room, struct opened_batch **ret, char *why,
                      size_t why_len);
void opened_batch_free(struct opened_batch *opened);

/* The memory that it occupies, in bytes. */
size_t opened_batch_bytes(const struct opened_batch *opened);

#endif
