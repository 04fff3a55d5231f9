/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search by byte offset: halve the bytes, step back to the beginning of the line that the
   middle fell into, read on to the first line that is a symbol.  Lines may have any length, may
   come twice, may be no symbols at all; each step leaves fewer bytes between LOW and HIGH, both of
   which are beginnings of lines:

     symbols that begin before LOW     lie at or below the address
     symbols that begin at HIGH or on  lie above it

   so that it ends with LOW behind the last symbol that does not lie above.  A run of lines that are
   no symbols is read through to its end by each step that falls into it; as the next one has half
   of it left, that is twice its length at most. */
#include "symbol_list.h"

#include <errno.h>
#include <string.h>

/* The beginning of the line that the byte AT belongs to. */
static size_t begin_of_line(struct span text, size_t at) {
  const uint8_t *newline = at > 0 ? memrchr(text.data, '\n', at) : NULL;
  return newline == NULL ? 0 : (size_t)(newline - text.data) + 1;
}

/* Reads on from *AT, the beginning of a line before END, to the next symbol that begins before END;
 *AT is then the end of its line.  Returns whether there is one. */
static bool next_symbol(struct span text, size_t *at, size_t end, struct symbol_line *ret) {
  struct span rest = span_of(text.data + *at, text.len - *at);
  while (text.len - rest.len < end) {
    if (symbol_line_next(&rest, ret) != 0 || symbol_line_rank(ret) == 0) continue;
    *at = text.len - rest.len;
    return true;
  }
  return false;
}

/* Where the line behind the last symbol begins that lies below ADDRESS, or at it too. */
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

/* The symbol nearest before AT, the beginning of a line. */
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
