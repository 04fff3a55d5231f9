/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted bundle of sources: each file of an accepted bundle is found again, and no content
   leads a lookup outside of it. */
#include "proto/limits.h"
#include "proto/source_bundle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { LOOKS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct source_bundle bundle;
  struct source_entry entry, found;
  if (source_bundle_parse(span_of(data, len), &bundle) != 0) return 0;
  bool is_good = source_bundle_verify(&bundle) == 0;
  for (uint32_t i = 0; i < bundle.count && i < LOOKS_MAX; i++) {
    struct buf content = {0};
    if (!source_bundle_entry(&bundle, i, &entry)) {
      if (is_good) abort();
      continue;
    }
    int error = source_bundle_find(&bundle, entry.path, &found);
    if (is_good && (error != 0 || found.path.data != entry.path.data)) abort();
    if (source_entry_unpack(&entry, &content) == 0 && content.len != entry.raw_len) abort();
    buf_fini(&content);
  }
  source_bundle_find(&bundle, span_of_string("/src/a.c"), &found);
  return 0;
}
