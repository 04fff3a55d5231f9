/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search by byte offset: take the middle byte, step back to the start of its line, and read
   on to the first line with a symbol.  Lines may have any length, may be repeated, or may be no
   symbols.  Each step reduces the bytes between LOW and HIGH, which are both starts of lines:

      symbols that begin before LOW     are at or below the address
      symbols that begin at HIGH or on  are above it

   The search ends with LOW after the last symbol that is not above the address.  Each step that
   falls into a run of lines without symbols reads to the end of the run.  The next step has half of
   the run left, so the total is at most twice its length. */
#include "symbol_list.h"

#include <errno.h>
#include <string.h>

/* The start of the line that contains byte AT. */
static size_t begin_of_line(struct span text, size_t at) {
  const uint8_t *newline = at > 0 ? memrchr(text.data, '\n', at) : NULL;
  return newline == NULL ? 0 : (size_t)(newline - text.data) + 1;
}

/* Finds the next symbol from *AT, the start of a line, that begins before END.  Moves *AT to the
   end of its line.  Returns whether there is a symbol. */
static bool next_symbol(struct span text, size_t *at, size_t end, struct symbol_line *ret) {
  struct span rest = span_of(text.data + *at, text.len - *at);
  while (text.len - rest.len < end) {
    if (symbol_line_next(&rest, ret) != 0 || symbol_line_rank(ret) == 0) continue;
    *at = text.len - rest.len;
    return true;
  }
  return false;
}

/* The start of the line after the last symbol below ADDRESS, or also at ADDRESS if IS_AT_TOO. */
static size_t bound(struct span text, uint64_t address, bool is_at_too) {
  size_t low = 0, high = text.len;
  while (low < high) {
    size_t middle = begin_of_line(text, low + (high - low) / 2), end = middle;
    struct symbol_line line;
    bool is_found = next_symbol(text, &end, high, &line);
    if (is_found && (line.address < address || (is_at_too && line.address == address)))
      low = end;
    else
      high = middle;
  }
  return low;
}

/* The nearest symbol before AT, the start of a line. */
static bool symbol_before(struct span text, size_t at, struct symbol_line *ret) {
  while (at > 0) {
    size_t begin = begin_of_line(text, at - 1);
    struct span line = span_of(text.data + begin, at - begin);
    if (symbol_line_next(&line, ret) == 0 && symbol_line_rank(ret) > 0) return true;
    at = begin;
  }
  return false;
}

bool symbol_list_reaches(const struct symbol_line *line, uint64_t address) {
  uint64_t size = line->size > 0 ? line->size : SYMBOL_LIST_REACH_MAX;
  return address - line->address < size;
}

int symbol_list_find(struct span text, uint64_t address, struct symbol_line *ret) {
  struct symbol_line best, line;
  size_t end = bound(text, address, true);
  if (!symbol_before(text, end, &best) || best.address > address) return -ENOENT;
  size_t at = bound(text, best.address, false);
  while (at < end && next_symbol(text, &at, end, &line))
    if (line.address == best.address && symbol_line_compare(&line, &best) < 0) best = line;
  if (!symbol_list_reaches(&best, address)) return -ENOENT;
  *ret = best;
  return 0;
}

struct symbol_list_shape symbol_list_look(struct span text) {
  struct symbol_list_shape shape = {0};
  struct symbol_line line;
  uint64_t number = 0, last = 0;
  for (int error; (error = symbol_line_next(&text, &line)) != -ENOENT;) {
    number++;
    if (error != 0 || symbol_line_rank(&line) == 0) continue;
    shape.symbol_count++;
    shape.has_addresses |= line.address != 0;
    if (line.address < last && shape.disorder_line == 0) shape.disorder_line = number;
    last = line.address;
  }
  return shape;
}

int symbol_list_address_of(struct span text, struct span name, uint64_t *ret) {
  struct symbol_line line;
  bool is_found = false;
  uint64_t lowest = UINT64_MAX;
  for (int error; (error = symbol_line_next(&text, &line)) != -ENOENT;) {
    if (error != 0 || !span_is_equal(line.name, name)) continue;
    if (line.address < lowest) lowest = line.address;
    is_found = true;
  }
  if (!is_found) return -ENOENT;
  *ret = lowest;
  return 0;
}
