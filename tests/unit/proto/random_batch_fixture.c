/* SPDX-License-Identifier: Apache-2.0 */
#include "random_batch_fixture.h"

#include "proto/limits.h"

#include <stdlib.h>

const uint8_t random_ids[20] = {0xb1, 0x1d, 0x1d};
static const struct label random_labels[] = {{"site", "north"}, {"stage", "b\xc3\xa4ta"}};

uint64_t random_next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t bits = (*state ^ (*state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  return bits ^ (bits >> 31);
}

uint32_t random_below(uint64_t *state, uint32_t limit) {
  return limit == 0 ? 0 : (uint32_t)(random_next(state) % limit);
}

static void random_nodes(struct random_batch *made, const struct random_sizes *sizes,
                         uint64_t *state) {
  uint8_t *depths = calloc(sizes->nodes + 1, 1);
  for (uint32_t i = 0; i < sizes->nodes; i++) {
    /* Mostly below one of the last nodes, like real stacks. */
    uint32_t back = 1 + random_below(state, random_below(state, 4) == 0 ? i + 1 : 6);
    uint32_t parent = back > i ? BATCH_NONE : i - back;
    if (parent != BATCH_NONE && depths[parent] + 1U >= sizes->depth) parent = BATCH_NONE;
    depths[i] = parent == BATCH_NONE ? 0 : (uint8_t)(depths[parent] + 1);
    uint32_t module = random_below(state, 3) ? 0 : random_below(state, sizes->modules);
    made->nodes[i] =
        (struct batch_node){parent, module, 0x1000 + 4 * (uint64_t)random_below(state, 1 << 18)};
  }
  free(depths);
}

static void random_samples(struct random_batch *made, const struct random_sizes *sizes,
                           uint64_t *state) {
  const uint64_t period_ns = 10101010;
  for (uint32_t i = 0; i < sizes->samples; i++) {
    uint64_t count = random_below(state, 3) ? 1 : 1 + random_below(state, 50);
    uint64_t extra = random_below(state, 20) ? 0 : random_below(state, 1 << 20);
    made->samples[i] = (struct batch_sample){.node = random_below(state, sizes->nodes),
                                             .thread = random_below(state, sizes->threads),
                                             .type = i % 5 == 0 ? SAMPLE_CPU_LR : SAMPLE_CPU,
                                             .count = count,
                                             .weight = count * period_ns + extra};
  }
}

static void random_names(struct random_batch *made, const struct random_sizes *sizes) {
  for (uint32_t i = 0; i < sizes->modules; i++)
    made->modules[i] =
        i + 1 == sizes->modules
            ? (struct batch_module){{0}, "[kernel]", 0, MODULE_PSEUDO}
            : (struct batch_module){span_of(random_ids, sizeof random_ids),
                                    "/usr/lib/x86_64-linux-gnu/libm.so.6", 907784 + i, MODULE_ELF};
  for (uint32_t i = 0; i < sizes->targets; i++)
    made->targets[i] = (struct batch_target){.service = "redis",
                                             .exe = "/usr/bin/redis-server",
                                             .module = i % 2 ? BATCH_NONE : 0,
                                             .label_count = i % 3,
                                             .labels = random_labels,
                                             .sampler = "perf",
                                             .asked_mhz = 99000,
                                             .achieved_mhz = 98990,
                                             .why = "it is the best",
                                             .marks = i % 4};
  for (uint32_t i = 0; i < sizes->threads; i++)
    made->threads[i] = (struct batch_thread){i % sizes->targets, i % 2 ? "io_thd_1" : "main"};
}

void random_batch_make(struct random_batch *made, const struct random_sizes *sizes, uint64_t seed) {
  uint64_t state = seed;
  made->modules = calloc(sizes->modules + 1, sizeof *made->modules);
  made->targets = calloc(sizes->targets + 1, sizeof *made->targets);
  made->threads = calloc(sizes->threads + 1, sizeof *made->threads);
  made->nodes = calloc(sizes->nodes + 1, sizeof *made->nodes);
  made->samples = calloc(sizes->samples + 1, sizeof *made->samples);
  random_names(made, sizes);
  random_nodes(made, sizes, &state);
  random_samples(made, sizes, &state);
  made->batch =
      (struct batch){.boot_id = "0123456789abcde",
                     .start_boottime_ns = UINT64_C(5000000000),
                     .end_boottime_ns = UINT64_C(15000000000),
                     .start_walltime_ns = UINT64_C(1700000000000000000),
                     .end_walltime_ns = UINT64_C(1700000010000000000),
                     .counters = {.run = random_next(&state),
                                  .produced = 1000 + sizes->samples,
                                  .shipped = sizes->samples,
                                  .dropped = {[LOSS_RING_FULL] = 7, [LOSS_RUN_ENDED] = seed % 2}},
                     .effort = {.asked_mhz = 99000,
                                .sample_ns = 2800 * (seed % 2),
                                .rate_reason = "asked",
                                .budget_state = seed % 3 ? "within" : NULL},
                     .module_count = sizes->modules,
                     .target_count = sizes->targets,
                     .thread_count = sizes->threads,
                     .node_count = sizes->nodes,
                     .sample_count = sizes->samples,
                     .modules = made->modules,
                     .targets = made->targets,
                     .threads = made->threads,
                     .nodes = made->nodes,
                     .samples = made->samples};
}

void random_batch_fini(struct random_batch *made) {
  free(made->modules);
  free(made->targets);
  free(made->threads);
  free(made->nodes);
  free(made->samples);
}
