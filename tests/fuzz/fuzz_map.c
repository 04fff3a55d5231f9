/* SPDX-License-Identifier: Apache-2.0 */
/* List of symbols -> symbol index. Any text gives a reason or an index that passes its reader's
   full check. */
#include "whole_index.h"

#include "common/buf.h"
#include "common/linker_map.h"
#include "common/symbol_line.h"
#include "symbol/index_builder.h"
#include "symbol/map_text.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_lines(struct span text) {
  struct symbol_line line;
  const uint8_t *end = text.data + text.len;
  for (int error; (error = symbol_line_next(&text, &line)) != -ENOENT;) {
    if (text.data > end) abort();
    if (error == 0 && (line.name.len == 0 || line.name.data + line.name.len > end)) abort();
  }
}

static void check_linker_map(struct span text) {
  struct linker_map map;
  struct symbol_line line;
  const uint8_t *end = text.data + text.len;
  linker_map_begin(text, &map);
  while (linker_map_next(&map, &line) == 0) {
    bool is_plt = span_is_equal(line.name, span_of_string("[plt]"));
    bool is_inside = line.name.data >= text.data && line.name.data + line.name.len <= end;
    if (line.name.len == 0 || line.size == 0 || (!is_plt && !is_inside)) abort();
    if (line.module.len > 0 && line.module.data + line.module.len > end) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct buf bytes = {0};
  struct index_summary summary;
  char why[256] = "";
  check_lines(span_of(data, len));
  check_linker_map(span_of(data, len));
  if (!map_text_is(span_of(data, len))) return 0;
  int error = index_builder_build(span_of(data, len), INDEX_ALL, &bytes, &summary, why, sizeof why);
  if (error == 0)
    whole_index_check(&bytes);
  else if (why[0] == '\0')
    abort();
  buf_fini(&bytes);
  return 0;
}
