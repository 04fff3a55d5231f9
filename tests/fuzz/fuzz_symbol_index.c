/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of symbol indexes.  No bytes may lead a lookup out of them, and every name that a checked
   index gives is clean. */
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look_up(const struct symbol_index *index, uint64_t address, bool is_checked) {
  struct symbol_match match;
  if (symbol_index_find(index, address, &match) != 0) return;
  if (address < match.start || address - match.start >= match.size) abort();
  struct span name = span_of_string(match.name);
  if (is_checked && !name_text_is_clean(name)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct symbol_index index;
  if (symbol_index_parse(span_of(data, len), &index) != 0) return 0;
  bool is_checked = symbol_index_verify(&index) == 0;
  for (uint64_t step = 0; step < 64; step++) {
    look_up(&index, step * 0x40, is_checked);
    look_up(&index, UINT64_MAX >> step, is_checked);
  }
  for (uint32_t i = 0; i < index.piece_count; i++)
    look_up(&index, index.pieces[i].start, is_checked);
  return 0;
}
