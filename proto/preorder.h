/* SPDX-License-Identifier: Apache-2.0 */
/* The depth-first order of a batch's call tree. For batch_encoder.c. */
#ifndef PROTO_PREORDER_H
#define PROTO_PREORDER_H

#include "batch.h"

struct pack;

struct preorder {
  const uint32_t *sources; /* place in the new order -> index in batch->nodes */
  const uint32_t *places;  /* index in batch->nodes -> place */
  const uint8_t *depths;   /* by place; roots have 0 */
};

/* Orders BATCH's nodes into RET, with arrays in PACK. Errors are recorded in PACK: -EINVAL if a
   parent does not come first, -EOVERFLOW over LIMIT_STACK_DEPTH, -ENOMEM. */
void preorder_make(struct pack *pack, const struct batch *batch, struct preorder *ret);

#endif
