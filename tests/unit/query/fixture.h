/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a directory of its own, filled with stacks written as text: "main;walk;walk" with each
   frame standing for an address (its number in a list of names). */
#ifndef TESTS_QUERY_FIXTURE_H
#define TESTS_QUERY_FIXTURE_H

#include "../store/scratch.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "query/query.h"
#include "query/selector.h"
#include "store/store.h"
#include "store/store_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define NOON_MS 1767268800000ULL /* 2026-01-01T12:00:00Z */

enum { STACKS_MAX = 64, NODES_MAX = 1024 };

/* One window of one target; frames are (module, address) pairs, outermost first. */
struct window {
  struct batch_module modules[4];
  struct batch_target target;
  struct batch_thread thread;
  struct batch_node nodes[NODES_MAX];
  struct batch_sample samples[STACKS_MAX];
  struct batch batch;
};

static inline void window_init(struct window *window, const char *service, uint64_t run) {
  memset(window, 0, sizeof *window);
  window->modules[0] =
      (struct batch_module){span_of("\x01\x02\x03\x04", 4), "/usr/bin/tool", 1, MODULE_ELF};
  window->modules[1] = (struct batch_module){{NULL, 0}, "[kernel]", 0, MODULE_PSEUDO};
  window->modules[2] =
      (struct batch_module){span_of("\x05\x06", 2), "/opt/x/lib.so", 1, MODULE_ELF};
  window->modules[3] = (struct batch_module){{NULL, 0}, "[anon]", 0, MODULE_PSEUDO};
  window->target = (struct batch_target){
      .service = service, .exe = "/usr/bin/tool", .sampler = "perf", .why = ""};
  window->thread = (struct batch_thread){0, "main"};
  window->batch = (struct batch){.counters = {.run = run, .produced = 1 << 30}, /* of any seq */
                                 .end_boottime_ns = 1,
                                 .module_count = 4,
                                 .target_count = 1,
                                 .thread_count = 1,
                                 .modules = window->modules,
                                 .targets = &window->target,
                                 .threads = &window->thread,
                                 .nodes = window->nodes,
                                 .samples = window->samples};
}

static inline void window_add(struct window *window, const uint64_t (*frames)[2], size_t depth,
                              uint64_t count, uint64_t weight) {
  struct batch *batch = &window->batch;
  uint32_t parent = BATCH_NONE;
  for (size_t i = 0; i < depth; i++) {
    window->nodes[batch->node_count] =
        (struct batch_node){parent, (uint32_t)frames[i][0], frames[i][1]};
    parent = batch->node_count++;
  }
  window->samples[batch->sample_count++] =
      (struct batch_sample){parent, 0, SAMPLE_CPU, count, weight};
}

/* The last sample is a PC alone: its parent is the link register's frame. */
static inline void window_make_lr(struct window *window) {
  window->samples[window->batch.sample_count - 1].type = SAMPLE_CPU_LR;
}

static inline void window_append(struct window *window, struct store *store, const char *board,
                                 uint64_t seq, uint64_t start_ms) {
  struct buf raw = {0}, packed = {0};
  assert_int_equal(batch_encode(&window->batch, &raw), 0);
  assert_int_equal(compress(buf_span(&raw), 1, &packed), 0);
  struct envelope envelope = {.run = window->batch.counters.run,
                              .seq = seq,
                              .records = batch_record_count(&window->batch),
                              .raw_len = (uint32_t)raw.len,
                              .zstd = buf_span(&packed)};
  struct store_append append = {.board = board,
                                .envelope = &envelope,
                                .batch = &window->batch,
                                .start_ms = start_ms,
                                .end_ms = start_ms + 10000,
                                .received_ms = start_ms + 11000};
  assert_int_equal(store_append(store, &append, 1), 0);
  assert_int_equal(append.outcome, STORE_STORED);
  buf_fini(&raw);
  buf_fini(&packed);
}

#endif
