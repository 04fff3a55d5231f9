/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded batch together with the memory that it lives in, to be handed on. */
#ifndef PROTO_OPENED_BATCH_H
#define PROTO_OPENED_BATCH_H

#include "batch.h"
#include "common/arena.h"
#include "common/buf.h"
#include "compress.h"
#include "messages.h"

/* What is needed on the way, kept from one to the next.  All-zero is empty. */
struct opening_room {
  struct buf raw; /* the last one, inflated */
  struct packer packer;
};
void opening_room_fini(struct opening_room *room);

struct opened_batch {
  struct arena arena; /* may hold more, as long as the batch lives */
  struct batch batch;
};

/* Inflates and decodes what is in ENVELOPE, which refers to PREFIX or stands alone (an empty one).
   Returns 0; -EBADMSG or -EOVERFLOW with the reason in WHY; or -ENOMEM.  Any thread, each with a
   ROOM of its own. */
int opened_batch_make(const struct envelope *envelope, struct span prefix,
                      struct opening_room *room, struct opened_batch **ret, char *why,
                      size_t why_len);
void opened_batch_free(struct opened_batch *opened);

/* What it holds of the machine's memory. */
size_t opened_batch_bytes(const struct opened_batch *opened);

#endif
