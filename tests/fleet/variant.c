/* SPDX-License-Identifier: Apache-2.0 */
/* What differs from board to board and from window to window: which recording it is, how many
   records each sample stands for (as far as half of what was captured either way), where within a
   function its leaves lie, and now and then a few records that were lost.  Stacks, modules and
   build-ids stay: a fleet runs the same firmware. */
#include "variant.h"

#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>

enum {
  BOARD_LEVEL = 1, /* of zstd, as daemons have it */
  LOSS_ONE_IN = 8, /* windows */
  LOSS_RECORDS_MAX = 5,
  ONE_BECOMES_TWO_IN = 8,
};

static uint64_t begin(const struct variant *variant, const struct recording **ret_recording) {
  uint64_t state = random_state(variant->seed, variant->board, variant->seq);
  const struct recordings *recordings = variant->recordings;
  *ret_recording = &recordings->rows[(variant->board + variant->seq) % recordings->count];
  return state;
}

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
  if (sample->count == 0) { /* what clocks told */
    varied.weight = sample->weight / 2 + draw % (sample->weight + 1);
    return varied;
  }
  uint64_t half = sample->count / 2;
  varied.count = sample->count - half + draw % (2 * half + 1);
  if (sample->count == 1) varied.count = draw % ONE_BECOMES_TWO_IN == 0 ? 2 : 1;
  varied.weight = recording_weight(recording, sample, varied.count);
  return varied;
}

struct tally variant_tally(const struct variant *variant) {
  const struct recording *recording;
  uint64_t state = begin(variant, &recording);
  struct tally tally = {.lost = lose(&state)};
  for (uint32_t i = 0; i < recording->batch.sample_count; i++) {
    struct batch_sample sample = vary(recording, &recording->batch.samples[i], &state);
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
  const struct recording *recording;
  uint64_t state = begin(variant, &recording);
  *ret_place = state % VARIANT_PLACES;
  lose(&state);
  for (uint32_t i = 0; i < recording->batch.sample_count; i++)
    ret[i] = vary(recording, &recording->batch.samples[i], &state);
  return recording;
}

static struct batch fill(const struct variant *variant, const struct variant_frame *frame,
                         struct variant_room *room, const struct recording *recording) {
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
  memcpy(batch.boot_id, frame->boot_id, sizeof batch.boot_id);
  batch.start_boottime_ns = frame->start_boottime_ns;
  batch.end_boottime_ns = frame->end_boottime_ns;
  batch.start_walltime_ns = frame->start_walltime_ns;
  batch.end_walltime_ns = frame->end_walltime_ns;
  batch.counters = frame->counters;
  return batch;
}

int variant_encode(const struct variant *variant, const struct variant_frame *frame,
                   struct variant_room *room, struct envelope *ret_envelope) {
  const struct recording *recording;
  begin(variant, &recording);
  int error = make_room(room, &recording->batch);
  if (error != 0) return error;
  struct batch batch = fill(variant, frame, room, recording);
  buf_clear(&room->raw);
  buf_clear(&room->zstd);
  error = batch_encode(&batch, &room->raw);
  if (error == 0) error = compress(buf_span(&room->raw), BOARD_LEVEL, &room->zstd);
  *ret_envelope = (struct envelope){.run = frame->counters.run,
                                    .seq = variant->seq,
                                    .records = batch_record_count(&batch),
                                    .raw_len = (uint32_t)room->raw.len,
                                    .zstd = buf_span(&room->zstd)};
  return error;
}

void variant_room_fini(struct variant_room *room) {
  free(room->nodes);
  free(room->samples);
  buf_fini(&room->raw);
  buf_fini(&room->zstd);
  *room = (struct variant_room){0};
}
