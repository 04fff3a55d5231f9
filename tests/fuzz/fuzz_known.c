/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted answer from the collector's address: complete files, or a rejection. */
#include "upload/known.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct known_file *known = NULL;
  size_t count = 0;
  if (known_parse(span_of(data, len), &known, &count) != 0) return 0;
  for (size_t i = 0; i < count; i++)
    if (known[i].id_len == 0 || known[i].id_len > sizeof known[i].id) abort();
  free(known);
  return 0;
}
