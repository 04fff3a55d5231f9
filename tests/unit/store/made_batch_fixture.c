/* SPDX-License-Identifier: Apache-2.0 */
#include "made_batch_fixture.h"

#include "proto/batch_codec.h"
#include "proto/compress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void make_batch(struct made_batch *made, uint64_t run, uint64_t seq) {
  static const struct label labels[] = {{"site", "north"}, {"board", "forged"}};
  static const char *const names[FIXTURE_THREADS] = {"main", "worker", "worker", "log=\\file"};
  memset(made, 0, sizeof *made);
  made->modules[0] =
      (struct batch_module){span_of("\x12\xab\xcd", 3), "/usr/bin/tool", 4096, MODULE_ELF};
  made->modules[1] = (struct batch_module){{NULL, 0}, "[kernel]", 0, MODULE_PSEUDO};
  made->target = (struct batch_target){.service = "tool",
                                       .exe = "/usr/bin/tool",
                                       .label_count = 2,
                                       .labels = labels,
                                       .sampler = "perf",
                                       .why = ""};
  for (uint32_t i = 0; i < FIXTURE_THREADS; i++)
    made->threads[i] = (struct batch_thread){0, names[i]};
  for (uint32_t i = 0; i < FIXTURE_NODES; i++)
    made->nodes[i] = (struct batch_node){i == 0 ? BATCH_NONE : (i - 1) / 2, i == 39, 0x1000 + i};
  for (uint32_t i = 0; i < FIXTURE_SAMPLES; i++) {
    uint64_t count = 1 + (i + seq) % 5;
    made->samples[i] = (struct batch_sample){10 + i, i % FIXTURE_THREADS, SAMPLE_CPU, count,
                                             count * 10101010 + (i == 29 ? 77 : 0)};
    made->count += count;
    made->weight += made->samples[i].weight;
  }
  made->batch = (struct batch){
      .counters = {.run = run, .produced = made->count * seq, .shipped = made->count * seq},
      .end_boottime_ns = 10,
      .module_count = 2,
      .target_count = 1,
      .thread_count = FIXTURE_THREADS,
      .node_count = FIXTURE_NODES,
      .sample_count = FIXTURE_SAMPLES,
      .modules = made->modules,
      .targets = &made->target,
      .threads = made->threads,
      .nodes = made->nodes,
      .samples = made->samples};
  made->envelope = (struct envelope){.run = run, .seq = seq};
}

void seal_batch(struct made_batch *made) {
  buf_clear(&made->raw);
  buf_clear(&made->packed);
  assert_int_equal(batch_encode(&made->batch, &made->raw), 0);
  assert_int_equal(compress(buf_span(&made->raw), 1, &made->packed), 0);
  made->envelope.records = batch_record_count(&made->batch);
  made->envelope.raw_len = (uint32_t)made->raw.len;
  made->envelope.zstd = buf_span(&made->packed);
  if (made->envelope.seq % 2 == 0) return;
  char why[256] = "";
  struct opening_room room = {.packer = {0}};
  opened_batch_free(made->opened);
  if (opened_batch_make(&made->envelope, (struct span){0}, &room, &made->opened, why, sizeof why) !=
      0)
    fail_msg("%s", why);
  opening_room_fini(&room);
}

void free_batch(struct made_batch *made) {
  buf_fini(&made->raw);
  buf_fini(&made->packed);
  opened_batch_free(made->opened);
}

struct store_append append_of(struct made_batch *made, const char *board, uint64_t start_ms) {
  return (struct store_append){.board = board,
                               .envelope = &made->envelope,
                               .batch = made->opened ? &made->opened->batch : &made->batch,
                               .opened = made->opened ? &made->opened : NULL,
                               .start_ms = start_ms,
                               .end_ms = start_ms + 10000,
                               .received_ms = start_ms + 11000};
}

enum store_outcome append_new(struct store *store, const char *board, uint64_t run, uint64_t seq,
                              uint64_t start_ms) {
  struct made_batch made;
  make_batch(&made, run, seq);
  seal_batch(&made);
  struct store_append append = append_of(&made, board, start_ms);
  store_append(store, &append, 1);
  free_batch(&made);
  return append.outcome;
}
