/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a batch are needed only while it is decoded: protobuf-c copies the data that it
   keeps. So the inflated form is stored in the caller's room, which a thread reuses for all its
   batches. */
#include "opened_batch.h"

#include "batch_codec.h"
#include "limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void opening_room_fini(struct opening_room *room) {
  buf_fini(&room->raw);
  packer_fini(&room->packer);
}

int opened_batch_make(const struct envelope *envelope, struct span prefix,
                      struct opening_room *room, struct opened_batch **ret, char *why,
                      size_t why_len) {
  buf_clear(&room->raw);
  room->packer.prefix = prefix;
  int error = packer_decompress(&room->packer, envelope->zstd, envelope->raw_len,
                                LIMIT_BATCH_RAW_BYTES, &room->raw);
  if (error != 0) {
    snprintf(why, why_len, "batch does not inflate to %u bytes", envelope->raw_len);
    return error;
  }
  struct opened_batch *opened = calloc(1, sizeof *opened);
  if (opened == NULL) return -ENOMEM;
  arena_init(&opened->arena, LIMIT_BATCH_UNPACK_BYTES);
  error = batch_decode(buf_span(&room->raw), &opened->arena, &opened->batch, why, why_len);
  if (error != 0) {
    opened_batch_free(opened);
    return error;
  }
  *ret = opened;
  return 0;
}

void opened_batch_free(struct opened_batch *opened) {
  if (opened == NULL) return;
  arena_fini(&opened->arena);
  free(opened);
}

size_t opened_batch_bytes(const struct opened_batch *opened) {
  return sizeof *opened + opened->arena.used_bytes;
}
