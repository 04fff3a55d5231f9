/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted batch. An accepted batch must be safe to use: every index inside its table, parents
   first, sums without overflow. Encoding, decoding and encoding it again must give the same bytes.
 */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_tables(const struct batch *batch) {
  for (uint32_t i = 0; i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    if (node->parent != BATCH_NONE && node->parent >= i) abort();
    if (node->module >= batch->module_count) abort();
  }
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[i];
    if (sample->node >= batch->node_count || sample->thread >= batch->thread_count) abort();
  }
  for (uint32_t i = 0; i < batch->thread_count; i++)
    if (batch->threads[i].target >= batch->target_count) abort();
  if (batch_record_count(batch) > INT64_MAX) abort();
}

static void check_resending(const struct batch *batch) {
  struct buf first = {0}, second = {0};
  struct arena arena;
  struct batch again;
  char why[256];
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  if (batch_encode(batch, &first) != 0) abort();
  if (batch_decode(buf_span(&first), &arena, &again, why, sizeof why) != 0) abort();
  if (batch_encode(&again, &second) != 0) abort();
  if (!span_is_equal(buf_span(&first), buf_span(&second))) abort();
  arena_fini(&arena);
  buf_fini(&first);
  buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct batch batch;
  char why[256] = "";
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  int got = batch_decode(span_of(data, len), &arena, &batch, why, sizeof why);
  if (got == 0) {
    check_tables(&batch);
    check_resending(&batch);
  } else if ((got != -EBADMSG && got != -EOVERFLOW) || why[0] == '\0') {
    abort();
  }
  arena_fini(&arena);
  return 0;
}
