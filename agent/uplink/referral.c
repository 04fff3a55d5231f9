/* SPDX-License-Identifier: Apache-2.0 */
/* Called once per window: zstd's memory, which is most of the memory needed, is not kept. */
#include "referral.h"
#include "proto/compress.h"
#include "proto/limits.h"

enum { LEVEL = 5 }; /* of zstd: 4 % fewer bytes than level 1, for about 50 us per window */

static void refer(struct packer *packer, const struct prefix *last, struct span raw,
                  struct envelope *batch, struct buf *shorter) {
  if (last->seq == 0 || last->run != batch->run) return;
  packer->prefix = buf_span(&last->raw);
  if (packer_compress(packer, raw, LEVEL, shorter) != 0) return;
  if (shorter->len >= batch->zstd.len) return;
  batch->zstd = buf_span(shorter);
  batch->after = last->seq;
}

void referral_make(struct prefix *last, uint32_t bytes_max, struct envelope *batch,
                   struct buf *shorter) {
  size_t most = bytes_max < LIMIT_PREFIX_BYTES ? bytes_max : LIMIT_PREFIX_BYTES;
  struct packer packer = {0};
  struct buf raw = {0};
  if (packer_decompress(&packer, batch->zstd, batch->raw_len, most, &raw) == 0) {
    refer(&packer, last, buf_span(&raw), batch, shorter);
    prefix_keep(last, batch->run, batch->seq, buf_span(&raw));
  } else {
    prefix_forget(last);
  }
  packer_fini(&packer);
  buf_fini(&raw);
}
