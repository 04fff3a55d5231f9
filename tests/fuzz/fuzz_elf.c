/* SPDX-License-Identifier: Apache-2.0 */
/* ELF file -> symbol index. Any input gives a reason or an index that passes its reader's full
   check. */
#include "whole_index.h"

#include "symbol/index_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct buf bytes = {0};
  struct index_summary summary;
  char why[256] = "";
  uint8_t *file = malloc(len + 1); /* the builder writes to it */
  if (file == NULL) return 0;
  memcpy(file, data, len);
  int error = index_builder_build(span_of(file, len), INDEX_ALL, &bytes, &summary, why, sizeof why);
  if (error == 0)
    whole_index_check(&bytes);
  else if (why[0] == '\0')
    abort();
  buf_fini(&bytes);
  free(file);
  return 0;
}
