/* SPDX-License-Identifier: Apache-2.0 */
/* The variations between boards and windows: the recording, the number of records of each sample
   (0.5 to 1.5 times the captured number), the addresses of leaves within their functions, and
   occasionally a few lost records. Stacks, modules and build-ids stay the same: a fleet runs the
   same firmware.

   Encoding windows is the largest cost of a simulator of thousands of boards. So a recording may
   have a number of kinds, which differ like windows do. The kind varies between boards and windows.
   The common part of a kind's batches is encoded once; times and counters, which precede it, are
   encoded each time. Compression still uses the board's own previous batch. */
#include "variant.h"

#include "proto/batch_codec.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>

enum {
  BOARD_LEVEL = 1, /* of zstd, as daemons have it */
  LOSS_ONE_IN = 8, /* windows */
  LOSS_RECORDS_MAX = 5,
  ONE_BECOMES_TWO_IN = 8,
};

/* A batch without the fields of its frame. */
struct variant_body {
  struct buf bytes; /* none: not made yet */
  size_t end_bytes; /* of them, with which any batch ends */
  uint64_t records;
};

static uint64_t lose(uint64_t *state) {
  bool has_lost = random_below(state, LOSS_ONE_IN) == 0;
  uint64_t lost = 1 + random_below(state, LOSS_RECORDS_MAX);
  return has_lost ? lost : 0;
}

/* Changes count and weight of SAMPLE, which a real board would have stay alike. */
static struct batch_sample vary(const struct recording *recording,
                                const struct batch_sample *sample, uint64_t *state) {
  struct batch_sample varied = *sample;
  uint64_t draw = random_next(state);
  if (sample->count == 0) { /* measured by clocks */
    varied.weight = sample->weight / 2 + draw % (sample->weight + 1);
    return varied;
  }
  uint64_t half = sample->count / 2;
  varied.count = sample->count - half + draw % (2 * half + 1);
  if (sample->count == 1) varied.count = draw % ONE_BECOMES_TWO_IN == 0 ? 2 : 1;
  varied.weight = recording_weight(recording, sample, varied.count);
  return varied;
}

/* The random choices of a window. */
struct draw {
  const struct recording *recording;
  uint32_t body;  /* its number, where there are kinds */
  uint64_t state; /* of the random choices of its samples */
  uint64_t place; /* of its leaves */
  uint64_t lost;
};

static struct draw draw(const struct variant *variant) {
  const struct recordings *recordings = variant->recordings;
  uint64_t state = random_state(variant->seed, variant->board, variant->seq);
  uint32_t at = (uint32_t)((variant->board + variant->seq) % recordings->count);
  struct draw drawn = {.recording = &recordings->rows[at], .place = state % VARIANT_PLACES};
  drawn.lost = lose(&state);
  if (variant->kinds > 0) {
    drawn.body = at * variant->kinds + (uint32_t)random_below(&state, variant->kinds);
    state = random_state(variant->seed, drawn.body, variant->kinds);
    drawn.place = state % VARIANT_PLACES;
  }
  drawn.state = state;
  return drawn;
}

struct tally variant_tally(const struct variant *variant) {
  struct draw drawn = draw(variant);
  const struct recording *recording = drawn.recording;
  struct tally tally = {.lost = drawn.lost};
  for (uint32_t i = 0; i < recording->batch.sample_count; i++) {
    struct batch_sample sample = vary(recording, &recording->batch.samples[i], &drawn.state);
    tally.records += sample.count;
    tally.weight_ns += sample.weight;
  }
  return tally;
}

static int make_room(struct variant_room *room, const struct batch *batch) {
  if (batch->node_count > room->node_cap) {
    free(room->nodes);
    room->nodes = calloc(batch->node_count, sizeof *room->nodes);
    room->node_cap = room->nodes ? batch->node_count : 0;
  }
  if (batch->sample_count > room->sample_cap) {
    free(room->samples);
    room->samples = calloc(batch->sample_count, sizeof *room->samples);
    room->sample_cap = room->samples ? batch->sample_count : 0;
  }
  return room->node_cap >= batch->node_count && room->sample_cap >= batch->sample_count ? 0
                                                                                        : -ENOMEM;
}

const struct recording *variant_samples(const struct variant *variant, struct batch_sample *ret,
                                        uint64_t *ret_place) {
  struct draw drawn = draw(variant);
  const struct recording *recording = drawn.recording;
  *ret_place = drawn.place;
  for (uint32_t i = 0; i < recording->batch.sample_count; i++)
    ret[i] = vary(recording, &recording->batch.samples[i], &drawn.state);
  return recording;
}

static struct batch fill(const struct variant *variant, struct variant_room *room,
                         const struct recording *recording) {
  uint64_t place;
  struct batch batch = recording->batch;
  variant_samples(variant, room->samples, &place);
  uint64_t shift = place * VARIANT_STEP_BYTES;
  for (uint32_t i = 0; i < batch.node_count; i++) {
    room->nodes[i] = batch.nodes[i];
    if (recording->is_leaf[i]) room->nodes[i].address += shift;
  }
  batch.samples = room->samples;
  batch.nodes = room->nodes;
  return batch;
}

static void put_in_frame(const struct variant_frame *frame, struct batch *batch) {
  memcpy(batch->boot_id, frame->boot_id, sizeof batch->boot_id);
  batch->start_boottime_ns = frame->start_boottime_ns;
  batch->end_boottime_ns = frame->end_boottime_ns;
  batch->start_walltime_ns = frame->start_walltime_ns;
  batch->end_walltime_ns = frame->end_walltime_ns;
  batch->counters = frame->counters;
}

/* Appends a batch of FRAME without samples: the head and the end of every batch. */
static int encode_empty(const struct variant_frame *frame, struct buf *ret) {
  struct batch empty = {0};
  put_in_frame(frame, &empty);
  return batch_encode(&empty, ret);
}

/* The part of a batch behind its head. */
static int make_body(const struct variant *variant, struct variant_room *room,
                     struct variant_body *ret) {
  static const struct variant_frame nothing;
  const struct recording *recording = draw(variant).recording;
  struct buf whole = {0}, empty = {0};
  int error = make_room(room, &recording->batch);
  if (error != 0) return error;
  struct batch batch = fill(variant, room, recording);
  put_in_frame(&nothing, &batch);
  error = batch_encode(&batch, &whole);
  if (error == 0) error = encode_empty(&nothing, &empty);
  size_t head = 0;
  while (error == 0 && head < empty.len && empty.data[head] == whole.data[head]) head++;
  buf_clear(&ret->bytes);
  if (error == 0) buf_append(&ret->bytes, whole.data + head, whole.len - head);
  if (ret->bytes.failed) error = -ENOMEM;
  ret->end_bytes = empty.len - head;
  ret->records = batch_record_count(&batch);
  buf_fini(&whole);
  buf_fini(&empty);
  return error;
}

/* Finds the body of VARIANT, or makes it. */
static int body_of(const struct variant *variant, struct variant_room *room,
                   struct variant_body **ret) {
  uint32_t count = variant->recordings->count * (variant->kinds > 0 ? variant->kinds : 1);
  if (room->bodies == NULL) {
    room->bodies = calloc(count, sizeof *room->bodies);
    room->body_count = room->bodies != NULL ? count : 0;
  }
  if (room->bodies == NULL) return -ENOMEM;
  *ret = &room->bodies[draw(variant).body];
  bool is_there = variant->kinds > 0 && (*ret)->bytes.len > 0;
  return is_there ? 0 : make_body(variant, room, *ret);
}

int variant_encode_raw(const struct variant *variant, const struct variant_frame *frame,
                       struct variant_room *room, struct envelope *ret_envelope) {
  struct variant_body *body;
  int error = body_of(variant, room, &body);
  buf_clear(&room->raw);
  if (error == 0) error = encode_empty(frame, &room->raw);
  if (error != 0) return error;
  room->raw.len -= body->end_bytes; /* which the body has */
  buf_append(&room->raw, body->bytes.data, body->bytes.len);
  *ret_envelope = (struct envelope){.run = frame->counters.run,
                                    .seq = variant->seq,
                                    .records = body->records,
                                    .raw_len = (uint32_t)room->raw.len};
  return room->raw.failed ? -ENOMEM : 0;
}

int variant_compress(struct variant_room *room, struct span prefix, struct envelope *envelope) {
  buf_clear(&room->zstd);
  room->packer.prefix = prefix;
  int error = packer_compress(&room->packer, buf_span(&room->raw), BOARD_LEVEL, &room->zstd);
  envelope->zstd = buf_span(&room->zstd);
  return error;
}

int variant_encode(const struct variant *variant, const struct variant_frame *frame,
                   struct variant_room *room, struct envelope *ret_envelope) {
  int error = variant_encode_raw(variant, frame, room, ret_envelope);
  return error != 0 ? error : variant_compress(room, (struct span){0}, ret_envelope);
}

void variant_room_fini(struct variant_room *room) {
  free(room->nodes);
  free(room->samples);
  for (uint32_t i = 0; i < room->body_count; i++) buf_fini(&room->bodies[i].bytes);
  free(room->bodies);
  buf_fini(&room->raw);
  buf_fini(&room->zstd);
  packer_fini(&room->packer);
  *room = (struct variant_room){0};
}
