/* SPDX-License-Identifier: Apache-2.0 */
/* The batches of a simulated board: recordings with variations. Batch SEQ of a board is a pure
   function of the seed, the board, SEQ and KINDS, so it can be generated again for each resend. */
#ifndef FLEET_VARIANT_H
#define FLEET_VARIANT_H

#include "common/buf.h"
#include "proto/compress.h"
#include "proto/payloads.h"
#include "recordings.h"

struct variant {
  const struct recordings *recordings; /* borrowed */
  uint64_t seed;
  uint64_t board, seq;
  uint32_t kinds; /* kinds of a recording, drawn for each window; 0: every window differs */
};

/* The content of a batch. */
struct tally {
  uint64_t records;
  uint64_t lost; /* records that this board's ring had no room for in that window */
  uint64_t weight_ns;
};

enum {
  VARIANT_PLACES = 8,     /* addresses that one captured leaf varies over */
  VARIANT_STEP_BYTES = 4, /* between them */
};

/* Writes the samples of VARIANT, as many as its recording has, to RET; its leaves are at place
   RET_PLACE.  Returns the recording. */
const struct recording *variant_samples(const struct variant *variant, struct batch_sample *ret,
                                        uint64_t *ret_place);

struct tally variant_tally(const struct variant *variant);

/* Board and times: the parts that do not depend on the recording. */
struct variant_frame {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t start_boottime_ns, end_boottime_ns;
  uint64_t start_walltime_ns, end_walltime_ns;
  struct counters counters;
};

/* Reused from one batch to the next, for one seed and number of kinds; initially all zero. */
struct variant_room {
  struct batch_node *nodes;
  struct batch_sample *samples;
  uint32_t node_cap, sample_cap;
  struct variant_body *bodies; /* of each recording and kind, as they were needed */
  uint32_t body_count;
  struct buf raw, zstd;
  struct packer packer;
};

/* Makes the batch of VARIANT in FRAME: its bytes are room->raw, its RET_ENVELOPE is empty.  Returns
   0 or -errno as batch_encode does. */
int variant_encode_raw(const struct variant *variant, const struct variant_frame *frame,
                       struct variant_room *room, struct envelope *ret_envelope);

/* The same, compressed by itself: RET_ENVELOPE borrows ROOM until the next call. */
int variant_encode(const struct variant *variant, const struct variant_frame *frame,
                   struct variant_room *room, struct envelope *ret_envelope);

/* Compresses room->raw, which refers to PREFIX (empty: stands alone), into ENVELOPE, which borrows
   ROOM.  Returns 0 or -ENOMEM. */
int variant_compress(struct variant_room *room, struct span prefix, struct envelope *envelope);
void variant_room_fini(struct variant_room *room);

#endif
