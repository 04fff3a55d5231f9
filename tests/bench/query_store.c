/* SPDX-License-Identifier: Apache-2.0 */
/* query_store DIR BUILD_ID LOW HIGH NODES: fills the store of a collector's data folder with twelve
   minutes of one board. Its call tree has NODES different frames at addresses between LOW and HIGH
   (hexadecimal) of the module BUILD_ID. The same arguments make the same store. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WINDOWS = 12,
  WINDOW_MS = 60000,
  SAMPLES = 9900, /* a window: less than two busy threads at 99 Hz */
  THREADS = 2,
  ADDRESSES = 20000, /* different places in code */
  DEPTH_MAX = 60,
  GO_DEEPER = 70, /* percentage of frames below the previous frame */
  NODES_MAX = LIMIT_BATCH_NODES,
  PERIOD_NS = 10101010,
};

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % limit);
}

struct world {
  struct batch_module module;
  struct batch_target target;
  struct batch_thread threads[THREADS];
  struct batch_node *nodes;
  struct batch_sample samples[SAMPLES];
  struct batch batch;
};

static void make_nodes(struct world *world, uint64_t low, uint64_t high, uint32_t count) {
  uint64_t *addresses = calloc(ADDRESSES, sizeof *addresses);
  uint32_t *depths = calloc(count, sizeof *depths);
  world->nodes = calloc(count, sizeof *world->nodes);
  if (addresses == NULL || depths == NULL || world->nodes == NULL) abort();
  for (uint32_t i = 0; i < ADDRESSES; i++)
    addresses[i] = low + random_below((uint32_t)(high - low));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t parent = i > 0 ? i - 1 : BATCH_NONE;
    bool is_end = i > 0 && (depths[parent] == DEPTH_MAX || random_below(100) >= GO_DEEPER);
    if (is_end) parent = random_below(i);
    while (i > 0 && depths[parent] == DEPTH_MAX) parent = world->nodes[parent].parent;
    depths[i] = i > 0 ? depths[parent] + 1 : 0;
    world->nodes[i] = (struct batch_node){parent, 0, addresses[random_below(ADDRESSES)]};
  }
  free(addresses);
  free(depths);
}

static void make_batch(struct world *world, uint32_t node_count) {
  static const char *const names[THREADS] = {"main", "worker"};
  world->target = (struct batch_target){
      .service = "bench", .exe = "/usr/bin/bench", .sampler = "perf", .why = ""};
  for (uint32_t i = 0; i < THREADS; i++) world->threads[i] = (struct batch_thread){0, names[i]};
  world->batch = (struct batch){.counters = {.run = 1, .produced = (uint64_t)WINDOWS * SAMPLES},
                                .end_boottime_ns = 1,
                                .module_count = 1,
                                .target_count = 1,
                                .thread_count = THREADS,
                                .node_count = node_count,
                                .sample_count = SAMPLES,
                                .modules = &world->module,
                                .targets = &world->target,
                                .threads = world->threads,
                                .nodes = world->nodes,
                                .samples = world->samples};
}

static int append(struct world *world, struct store *store, uint64_t seq, uint64_t start_ms) {
  struct buf raw = {0}, packed = {0};
  uint32_t node_count = world->batch.node_count;
  for (uint32_t i = 0; i < SAMPLES; i++) { /* all nodes are leaves of some window */
    uint32_t leaf = (uint32_t)((seq * SAMPLES + i) * 7919 % node_count);
    world->samples[i] = (struct batch_sample){leaf, i % THREADS, SAMPLE_CPU, 1, PERIOD_NS};
  }
  int error = batch_encode(&world->batch, &raw);
  if (error == 0) error = compress(buf_span(&raw), 1, &packed);
  struct envelope envelope = {.run = 1,
                              .seq = seq,
                              .records = batch_record_count(&world->batch),
                              .raw_len = (uint32_t)raw.len,
                              .zstd = buf_span(&packed)};
  struct store_append one = {.board = "bench",
                             .envelope = &envelope,
                             .batch = &world->batch,
                             .start_ms = start_ms,
                             .end_ms = start_ms + WINDOW_MS,
                             .received_ms = start_ms + WINDOW_MS};
  if (error == 0) error = store_append(store, &one, 1);
  buf_fini(&raw);
  buf_fini(&packed);
  return error;
}

static size_t parse_id(const char *text, uint8_t id[LIMIT_MODULE_ID_BYTES]) {
  size_t len = 0;
  for (; text[2 * len] != '\0' && len < LIMIT_MODULE_ID_BYTES; len++) {
    unsigned byte;
    if (sscanf(text + 2 * len, "%2x", &byte) != 1) return 0;
    id[len] = (uint8_t)byte;
  }
  return len;
}

int main(int argc, char **argv) {
  static struct world world;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  char why[256];
  struct store *store;
  uint32_t nodes = argc == 6 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
  if (nodes == 0 || nodes > NODES_MAX) {
    fprintf(stderr, "usage: query_store DIR BUILD_ID LOW HIGH NODES (at most %d)\n", NODES_MAX);
    return 2;
  }
  world.module =
      (struct batch_module){span_of(id, parse_id(argv[2], id)), "/usr/bin/bench", 1, MODULE_ELF};
  make_nodes(&world, strtoull(argv[3], NULL, 16), strtoull(argv[4], NULL, 16), nodes);
  make_batch(&world, nodes);
  int error = store_open(argv[1], &store, why, sizeof why);
  if (error != 0) {
    fprintf(stderr, "query_store: %s\n", why);
    return 1;
  }
  uint64_t start_ms = clock_walltime_ns() / NS_PER_MS - (uint64_t)WINDOWS * WINDOW_MS;
  for (uint64_t i = 0; i < WINDOWS && error == 0; i++)
    error = append(&world, store, i + 1, start_ms + i * WINDOW_MS);
  store_close(store);
  if (error != 0) fprintf(stderr, "query_store: %s\n", strerror(-error));
  return error != 0;
}
