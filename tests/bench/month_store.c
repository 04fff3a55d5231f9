/* SPDX-License-Identifier: Apache-2.0 */
/* month_store DIR BOARDS PERCENT SECONDS DAYS FILE...: fills the store of a collector's data folder
   with the last DAYS days (UTC, without today) of BOARDS boards and rolls each up. Windows of ten
   seconds are recorded in the FILEs and varied between boards and windows (tests/fleet/variant).
   PERCENT of the records are kept, because a recorded board is busy all day.

   SECONDS 10 appends window by window, like a collector. 3600 adds up the windows of an hour in
   advance and appends them as one: the rollups are the same in a fraction of the time, but there
   are almost no windows. Windows are rolled up and deleted hour by hour, as by default. Prints the
   sizes.

   The files show a store's size; a collector started on DIR shows the query times. */
#include "fleet/random.h"
#include "fleet/recordings.h"
#include "fleet/variant.h"

#include "common/buf.h"
#include "common/clock.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  SEED = 7,
  WINDOW_MS = 10000,
  HOUR_MS = 3600 * 1000,
  DAY_MS = 24 * HOUR_MS,
  GROUP = 50, /* batches a commit */
  WINDOWS_KEPT_MS = 6 * HOUR_MS,
  RECORDS_MIN = 500,
  NODES_MIN = 180,
};

struct made {
  uint64_t windows, records, weight_ns, zstd_bytes;
};

struct maker {
  struct store *store;
  struct recordings recordings;
  uint64_t first_day_ms, days, boards, percent, span_windows;
  struct made made;
  struct variant_room rooms[GROUP];
  char names[GROUP][32];
  struct envelope envelopes[GROUP];
  struct batch batches[GROUP];
  struct store_append appends[GROUP];
  size_t waiting;
  struct sum { /* of one recording's samples, for one variation of the leaves' addresses */
    struct batch_sample *samples;
    bool is_used;
  } * sums; /* VARIANT_PLACES of each recording */
};

static void fail(const char *what, int error) {
  fprintf(stderr, "month_store: %s: %s\n", what, strerror(-error));
  exit(1);
}

static void flush(struct maker *maker) {
  if (maker->waiting == 0) return;
  int error = store_append(maker->store, maker->appends, maker->waiting);
  while (error == -EAGAIN) { /* settling is behind */
    struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    error = store_append(maker->store, maker->appends, maker->waiting);
  }
  if (error != 0) fail("append", error);
  for (size_t i = 0; i < maker->waiting; i++)
    if (maker->appends[i].outcome != STORE_STORED) fail("append: not stored", -EEXIST);
  maker->waiting = 0;
}

/* Makes the next append BOARD's, of the time from START_MS on. */
static struct store_append *next(struct maker *maker, uint64_t board, uint64_t start_ms,
                                 uint64_t length_ms) {
  size_t at = maker->waiting++;
  snprintf(maker->names[at], sizeof maker->names[at], "board-%05" PRIu64, board);
  maker->appends[at] = (struct store_append){.board = maker->names[at],
                                             .envelope = &maker->envelopes[at],
                                             .batch = &maker->batches[at],
                                             .start_ms = start_ms,
                                             .end_ms = start_ms + length_ms,
                                             .received_ms = start_ms + length_ms};
  return &maker->appends[at];
}

/* Keeps each record of SAMPLE with the chance of PERCENT in a hundred. */
static void thin(const struct recording *recording, struct batch_sample *sample, uint64_t percent,
                 uint64_t *random) {
  uint64_t kept = 0;
  if (percent >= 100) return;
  if (sample->count == 0) { /* measured by clocks */
    sample->weight = sample->weight * percent / 100;
    return;
  }
  for (uint64_t i = 0; i < sample->count; i++) kept += random_below(random, 100) < percent;
  sample->weight = recording_weight(recording, sample, kept);
  sample->count = kept;
}

/* Adds up BOARD's windows from FIRST on. */
static void sum_windows(struct maker *maker, uint64_t board, uint64_t first) {
  static struct batch_sample room[LIMIT_BATCH_SAMPLES];
  for (uint32_t i = 0; i < maker->recordings.count * VARIANT_PLACES; i++)
    maker->sums[i].is_used = false;
  for (uint64_t i = 0; i < maker->span_windows; i++) {
    const struct variant variant = {&maker->recordings, SEED, board, first + i + 1, 0};
    uint64_t place, random = random_state(SEED + 1, board, first + i);
    const struct recording *recording = variant_samples(&variant, room, &place);
    uint32_t at = (uint32_t)(recording - maker->recordings.rows);
    struct sum *sum = &maker->sums[at * VARIANT_PLACES + place];
    for (uint32_t j = 0; j < recording->batch.sample_count; j++) {
      thin(recording, &room[j], maker->percent, &random);
      if (!sum->is_used) sum->samples[j] = (struct batch_sample){.count = 0};
      sum->samples[j].count += room[j].count;
      sum->samples[j].weight += room[j].weight;
    }
    sum->is_used = true;
  }
}

/* A batch of all sums; its arrays are reused from one batch to the next. */
struct span_room {
  struct batch_module modules[LIMIT_BATCH_MODULES];
  struct batch_target targets[LIMIT_BATCH_TARGETS];
  struct batch_thread threads[LIMIT_BATCH_THREADS];
  struct batch_node nodes[LIMIT_BATCH_NODES];
  struct batch_sample samples[LIMIT_BATCH_SAMPLES];
  struct batch batch;
};

static void put_names(struct span_room *room, const struct batch *from) {
  struct batch *batch = &room->batch;
  for (uint32_t i = 0; i < from->module_count; i++)
    room->modules[batch->module_count + i] = from->modules[i];
  for (uint32_t i = 0; i < from->target_count; i++) {
    struct batch_target *target = &room->targets[batch->target_count + i];
    *target = from->targets[i];
    if (target->module != BATCH_NONE) target->module += batch->module_count;
  }
  for (uint32_t i = 0; i < from->thread_count; i++)
    room->threads[batch->thread_count + i] =
        (struct batch_thread){from->threads[i].target + batch->target_count, from->threads[i].name};
}

/* Marks in IS_USED the nodes that samples of SUM need. */
static void mark_nodes(const struct batch *from, const struct sum *sum, bool *is_used) {
  memset(is_used, 0, from->node_count * sizeof *is_used);
  for (uint32_t i = 0; i < from->sample_count; i++) {
    if (sum->samples[i].count == 0 && sum->samples[i].weight == 0) continue;
    for (uint32_t at = from->samples[i].node; at != BATCH_NONE && !is_used[at];
         at = from->nodes[at].parent)
      is_used[at] = true;
  }
}

/* Puts the nodes and samples of RECORDING with its leaves at PLACE. */
static void put_sum(struct span_room *room, const struct recording *recording,
                    const struct sum *sum, uint64_t place) {
  static bool is_used[LIMIT_BATCH_NODES];
  static uint32_t numbers[LIMIT_BATCH_NODES];
  struct batch *batch = &room->batch;
  const struct batch *from = &recording->batch;
  if (batch->node_count + from->node_count > LIMIT_BATCH_NODES ||
      batch->sample_count + from->sample_count > LIMIT_BATCH_SAMPLES)
    fail("too large for a batch", -EOVERFLOW);
  mark_nodes(from, sum, is_used);
  for (uint32_t i = 0; i < from->node_count; i++) {
    struct batch_node node = from->nodes[i];
    if (!is_used[i]) continue;
    if (node.parent != BATCH_NONE) node.parent = numbers[node.parent];
    node.module += batch->module_count;
    if (recording->is_leaf[i]) node.address += place * VARIANT_STEP_BYTES;
    numbers[i] = batch->node_count;
    room->nodes[batch->node_count++] = node;
  }
  for (uint32_t i = 0; i < from->sample_count; i++) {
    struct batch_sample sample = from->samples[i];
    if (sum->samples[i].count == 0 && sum->samples[i].weight == 0) continue;
    sample.node = numbers[sample.node];
    sample.thread += batch->thread_count;
    sample.count = sum->samples[i].count;
    sample.weight = sum->samples[i].weight;
    room->samples[batch->sample_count++] = sample;
  }
}

static struct batch *fill_batch(struct maker *maker, struct span_room *room) {
  room->batch = (struct batch){.end_boottime_ns = 1,
                               .modules = room->modules,
                               .targets = room->targets,
                               .threads = room->threads,
                               .nodes = room->nodes,
                               .samples = room->samples};
  for (uint32_t i = 0; i < maker->recordings.count; i++) {
    const struct recording *recording = &maker->recordings.rows[i];
    bool is_any = false;
    for (uint64_t place = 0; place < VARIANT_PLACES; place++)
      is_any = is_any || maker->sums[i * VARIANT_PLACES + place].is_used;
    if (!is_any) continue;
    put_names(room, &recording->batch);
    for (uint64_t place = 0; place < VARIANT_PLACES; place++) {
      const struct sum *sum = &maker->sums[i * VARIANT_PLACES + place];
      if (sum->is_used) put_sum(room, recording, sum, place);
    }
    room->batch.module_count += recording->batch.module_count;
    room->batch.target_count += recording->batch.target_count;
    room->batch.thread_count += recording->batch.thread_count;
  }
  return &room->batch;
}

static void encode(struct maker *maker, struct batch *batch, size_t at, uint64_t seq) {
  struct variant_room *room = &maker->rooms[at];
  buf_clear(&room->raw);
  buf_clear(&room->zstd);
  int error = batch_encode(batch, &room->raw);
  if (error == 0) error = compress(buf_span(&room->raw), 1, &room->zstd);
  if (error != 0) fail("batch", error);
  maker->envelopes[at] = (struct envelope){.run = batch->counters.run,
                                           .seq = seq,
                                           .records = batch_record_count(batch),
                                           .raw_len = (uint32_t)room->raw.len,
                                           .zstd = buf_span(&room->zstd)};
  maker->batches[at] = (struct batch){.counters = batch->counters, .end_boottime_ns = 1};
  maker->made.zstd_bytes += room->zstd.len;
}

/* Appends the SPAN-th stretch of BOARD's time. */
static void add_span(struct maker *maker, uint64_t board, uint64_t span) {
  static struct span_room room;
  uint64_t length_ms = maker->span_windows * WINDOW_MS;
  sum_windows(maker, board, span * maker->span_windows);
  struct batch *batch = fill_batch(maker, &room);
  batch->counters.run = board + 1;
  batch->counters.produced = UINT64_C(1) << 50; /* more than it stores */
  size_t at = maker->waiting;
  next(maker, board, maker->first_day_ms + span * length_ms, length_ms);
  encode(maker, batch, at, span + 1);
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    maker->made.records += batch->samples[i].count;
    maker->made.weight_ns += batch->samples[i].weight;
  }
  maker->made.windows += maker->span_windows;
  if (maker->waiting == GROUP) flush(maker);
}

static void make_sums(struct maker *maker) {
  maker->sums = calloc(maker->recordings.count * VARIANT_PLACES, sizeof *maker->sums);
  if (maker->sums == NULL) fail("memory", -ENOMEM);
  for (uint32_t i = 0; i < maker->recordings.count * VARIANT_PLACES; i++) {
    const struct batch *batch = &maker->recordings.rows[i / VARIANT_PLACES].batch;
    maker->sums[i].samples = calloc(batch->sample_count + 1, sizeof *maker->sums[i].samples);
    if (maker->sums[i].samples == NULL) fail("memory", -ENOMEM);
  }
}

static void open_store(struct maker *maker, const char *dir) {
  char why[256];
  if (store_open(dir, &maker->store, why, sizeof why) == 0) return;
  fprintf(stderr, "month_store: %s\n", why);
  exit(1);
}

/* A collector's periodic work at the time when SPAN begins. */
static void retain(struct maker *maker, uint64_t span) {
  uint64_t now_ms = maker->first_day_ms + span * maker->span_windows * WINDOW_MS;
  const struct store_keep keep = {.windows_ms = now_ms - WINDOWS_KEPT_MS};
  if (now_ms % HOUR_MS != 0) return;
  flush(maker);
  int error = store_roll(maker->store);
  if (error == 0) error = store_retain(maker->store, &keep);
  if (error != 0) fail("retention", error);
}

/* Makes the day, then rolls it up; adds the time of each to TOOK_NS. */
static void make_day(struct maker *maker, const char *dir, uint64_t day, uint64_t took_ns[2]) {
  uint64_t spans = DAY_MS / (maker->span_windows * WINDOW_MS);
  uint64_t before_ns = clock_monotonic_ns();
  for (uint64_t span = day * spans; span < (day + 1) * spans; span++) {
    if (maker->span_windows == 1) retain(maker, span);
    for (uint64_t board = 0; board < maker->boards; board++) add_span(maker, board, span);
  }
  flush(maker);
  store_close(maker->store); /* all has settled at the next opening */
  open_store(maker, dir);
  uint64_t made_ns = clock_monotonic_ns();
  int error = store_roll(maker->store);
  if (error != 0) fail("summing up", error);
  took_ns[0] += made_ns - before_ns;
  took_ns[1] += clock_monotonic_ns() - made_ns;
}

static int usage(void) {
  fprintf(stderr, "usage: month_store DIR BOARDS PERCENT SECONDS DAYS FILE...\n");
  return 2;
}

int main(int argc, char **argv) {
  static struct maker maker;
  const struct recordings_floor floor = {RECORDS_MIN, NODES_MIN};
  uint64_t took_ns[2] = {0};
  if (argc < 7) return usage();
  maker.boards = strtoull(argv[2], NULL, 10);
  maker.percent = strtoull(argv[3], NULL, 10);
  maker.span_windows = strtoull(argv[4], NULL, 10) * 1000 / WINDOW_MS;
  maker.days = strtoull(argv[5], NULL, 10);
  if (maker.boards == 0 || maker.days == 0 || maker.span_windows == 0 ||
      maker.span_windows > HOUR_MS / WINDOW_MS)
    return usage();
  for (int i = 6; i < argc; i++) {
    int error = recordings_add(&maker.recordings, argv[i], &floor);
    if (error != 0 && error != -ENODATA) fail(argv[i], error);
  }
  if (maker.recordings.count == 0) fail("no window is rich enough", -ENODATA);
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS;
  maker.first_day_ms = now_ms - now_ms % DAY_MS - maker.days * DAY_MS;
  make_sums(&maker);
  open_store(&maker, argv[1]);
  for (uint64_t day = 0; day < maker.days; day++) make_day(&maker, argv[1], day, took_ns);
  store_close(maker.store);
  printf("windows %" PRIu64 "\nsamples %" PRIu64 "\nweight_ns %" PRIu64 "\nzstd_bytes %" PRIu64
         "\nmade_s %.1f\nsummed_s %.1f\n",
         maker.made.windows, maker.made.records, maker.made.weight_ns, maker.made.zstd_bytes,
         (double)took_ns[0] / 1e9, (double)took_ns[1] / 1e9);
  return 0;
}
