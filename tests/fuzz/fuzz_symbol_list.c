/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes of address, then a list of symbols. For any text, a result is a line of it that
   reaches the address. The index gives the same result as a linear search, and so does binary
   search if the text is sorted. The same bytes are also read as an untrusted index. */
#include "symbol_list/list_index.h"
#include "symbol_list/symbol_list.h"

#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int read_linearly(struct span text, uint64_t address, struct symbol_line *ret) {
  struct symbol_line line, best = {.size = 0};
  bool is_found = false;
  for (int error; (error = symbol_line_next(&text, &line)) != -ENOENT;) {
    if (error != 0 || symbol_line_rank(&line) == 0 || line.address > address) continue;
    if (!is_found || line.address > best.address ||
        (line.address == best.address && symbol_line_compare(&line, &best) < 0))
      best = line;
    is_found = true;
  }
  if (!is_found || !symbol_list_reaches(&best, address)) return -ENOENT;
  *ret = best;
  return 0;
}

static void check_same(int error, const struct symbol_line *a, int other_error,
                       const struct symbol_line *b) {
  if (error != other_error) abort();
  if (error == 0 && (a->address != b->address || !span_is_equal(a->name, b->name))) abort();
}

static void check_lie(struct span bytes, struct span text, uint64_t address) {
  struct list_index index = {.text = text, .records = span_of(bytes.data, bytes.len / 16 * 16)};
  struct symbol_line line;
  if (list_index_find(&index, address, &line) == 0 && !symbol_list_reaches(&line, address)) abort();
  if (list_index_parse(bytes, text, &index) == 0) list_index_find(&index, address, &line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span text = span_of(data, len), head;
  struct symbol_line wanted = {.size = 0}, line = wanted;
  struct buf bytes = {0};
  struct list_index index;
  uint64_t address;
  if (!span_take(&text, sizeof address, &head)) return 0;
  memcpy(&address, head.data, sizeof address);
  check_lie(text, text, address);
  int error = read_linearly(text, address, &wanted);
  if (list_index_build(text, &bytes) != 0) abort();
  if (list_index_parse(buf_span(&bytes), text, &index) != 0) abort();
  check_same(error, &wanted, list_index_find(&index, address, &line), &line);
  int found = symbol_list_find(text, address, &line);
  if (symbol_list_look(text).disorder_line == 0) check_same(error, &wanted, found, &line);
  buf_fini(&bytes);
  return 0;
}
