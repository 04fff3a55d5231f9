/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as in a damaged day file: decoding stays in bounds, and an accepted block is unchanged
   after encoding again. The first byte chooses between columns and packed columns. */
#include "common/buf.h"
#include "proto/compress.h"
#include "store/block.h"
#include "store/store_read.h"

#include <stdlib.h>

enum { ROWS_MAX = 4096, PACKED_RAW_LEN = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void try_columns(struct span columns) {
  static struct store_row rows[ROWS_MAX], again[ROWS_MAX];
  struct buf encoded = {0};
  long count = block_decode(columns, rows, ROWS_MAX);
  if (count < 0) return;
  if (block_encode(rows, (size_t)count, &encoded) != 0) abort();
  if (block_decode(buf_span(&encoded), again, ROWS_MAX) != count) abort();
  for (long i = 0; i < count; i++)
    if (rows[i].node != again[i].node || rows[i].count != again[i].count ||
        rows[i].weight != again[i].weight)
      abort();
  buf_fini(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  if (len == 0) return 0;
  struct span rest = span_of(data + 1, len - 1);
  if (data[0] == 0) {
    try_columns(rest);
    return 0;
  }
  struct packer packer = {0};
  struct buf columns = {0};
  if (block_unpack(&packer, rest, (size_t)data[0] * PACKED_RAW_LEN, &columns) == 0)
    try_columns(buf_span(&columns));
  packer_fini(&packer);
  buf_fini(&columns);
  return 0;
}
