/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a maps file: each line is a valid mapping or is skipped, and the reader always
   reaches the end. */
#include "proc/mappings.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span text = span_of(data, len);
  struct mapping mapping;
  for (;;) {
    size_t before = text.len;
    int error = mappings_next(&text, &mapping);
    if (error == -ENOENT) return 0;
    if (text.len >= before) abort();
    if (error == -EBADMSG) continue;
    if (error != 0 || mapping.start >= mapping.end) abort();
    if (mapping.path.data < data || mapping.path.data + mapping.path.len > data + len) abort();
  }
}
