/* SPDX-License-Identifier: Apache-2.0 */
/* ELF file -> symbol index.  Whatever the file, the answer is a reason or an index that passes its
   own reader's full check. */
#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct buf bytes = {0};
  struct index_summary summary;
  char why[256] = "";
  int error = index_builder_build(span_of(data, len), INDEX_ALL, &bytes, &summary, why, sizeof why);
  if (error == 0) {
    struct symbol_index index;
    struct symbol_match match;
    if (symbol_index_parse(buf_span(&bytes), &index) != 0) abort();
    if (symbol_index_verify(&index) != 0) abort();
    for (uint32_t i = 0; i < index.symbol_count; i++)
      if (symbol_index_find(&index, index.symbols[i].start, &match) != 0) abort();
  } else if (why[0] == '\0') {
    abort();
  }
  buf_fini(&bytes);
  return 0;
}
