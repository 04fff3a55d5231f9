/* SPDX-License-Identifier: Apache-2.0 */
/* One copy for each connection, as long as it lasts. */
#include "prefix.h"
#include "limits.h"

void prefix_forget(struct prefix *prefix) {
  buf_fini(&prefix->raw);
  *prefix = (struct prefix){0};
}

void prefix_keep(struct prefix *prefix, uint64_t run, uint64_t seq, struct span raw) {
  buf_clear(&prefix->raw);
  if (raw.len > 0 && raw.len <= LIMIT_PREFIX_BYTES) buf_append(&prefix->raw, raw.data, raw.len);
  if (prefix->raw.failed || prefix->raw.len == 0) {
    prefix_forget(prefix);
    return;
  }
  prefix->run = run;
  prefix->seq = seq;
}
