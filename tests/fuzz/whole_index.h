/* SPDX-License-Identifier: Apache-2.0 */
/* An index that the builder has made passes its own reader's full check, and each of its rows leads
   to functions. */
#ifndef FUZZ_WHOLE_INDEX_H
#define FUZZ_WHOLE_INDEX_H

#include "common/buf.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

static inline void whole_index_check(const struct buf *bytes) {
  struct symbol_index index;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  if (symbol_index_parse(buf_span(bytes), &index) != 0) abort();
  if (symbol_index_verify(&index) != 0) abort();
  for (uint32_t i = 0; i < index.block_count; i++) {
    struct row_reader reader;
    row_reader_init(&reader, index.rows, &index.blocks[i]);
    while (row_reader_next(&reader)) {
      int count = symbol_index_chain(&index, reader.address, frames);
      if ((count > 0) != (reader.contexts[0].node != INDEX_NO_NODE)) abort();
    }
  }
  symbol_index_fini(&index);
}

#endif
