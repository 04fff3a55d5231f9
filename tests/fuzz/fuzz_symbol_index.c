/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of symbol indexes. For any bytes, lookups stay inside, and every name from a checked index
   is clean text. The version field is overwritten with the current one: otherwise each new version
   would make the seeds worthless. */
#include "symbol/alias_name.h"
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_clean(const char *text, bool is_checked) {
  if (text == NULL) return;
  if (!name_text_is_clean(span_of_string(text)) && is_checked) abort();
}

static bool is_same(const struct symbol_frame *a, const struct symbol_frame *b) {
  return a->name == b->name && a->is_readable == b->is_readable && a->file == b->file &&
         a->line == b->line && a->decl_file == b->decl_file && a->decl_line == b->decl_line &&
         a->start == b->start && a->size == b->size;
}

static void look_up(const struct symbol_index *index, struct symbol_cursor *cursor,
                    uint64_t address, bool is_checked) {
  struct symbol_match match;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX], same[SYMBOL_CHAIN_MAX];
  if (symbol_index_find(index, address, &match) == 0) {
    if (address < match.start || address - match.start >= match.size) abort();
    check_clean(match.name, is_checked);
  }
  int count = symbol_index_chain(index, address, frames);
  if (is_checked && symbol_cursor_chain(cursor, address, same) != count) abort();
  for (int i = 0; i < count; i++) {
    check_clean(frames[i].name, is_checked);
    check_clean(symbol_frame_system_name(&frames[i]), is_checked);
    check_clean(frames[i].file, is_checked);
    check_clean(frames[i].decl_file, is_checked);
    if (is_checked && !is_same(&frames[i], &same[i])) abort();
  }
  if (!is_checked) symbol_cursor_chain(cursor, address, same);
  const struct symbol_frame told = {.name = "_other"};
  if (alias_name_is(index, address, &told) && index->alias_count == 0) abort();
}

static void look_around(struct span bytes) {
  struct symbol_index index;
  struct symbol_cursor cursor;
  if (symbol_index_parse(bytes, &index) != 0) return;
  bool is_checked = symbol_index_verify(&index) == 0;
  symbol_cursor_init(&cursor, &index);
  for (uint64_t step = 0; step < 64; step++) {
    look_up(&index, &cursor, step * 0x40, is_checked);
    look_up(&index, &cursor, UINT64_MAX >> step, is_checked);
  }
  for (uint32_t i = 0; i < index.block_count && i < 4096; i++)
    for (uint64_t step = 0; step < 64; step++)
      look_up(&index, &cursor, index.blocks[i].address + step * 7, is_checked);
  symbol_index_fini(&index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const uint32_t version = INDEX_VERSION;
  const size_t at = offsetof(struct index_header, version);
  uint8_t *bytes = malloc(len > 0 ? len : 1); /* aligned */
  if (bytes == NULL) return 0;
  if (len > 0) memcpy(bytes, data, len);
  if (len >= at + sizeof version) memcpy(bytes + at, &version, sizeof version);
  look_around(span_of(bytes, len));
  free(bytes);
  return 0;
}
