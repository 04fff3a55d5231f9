/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel and binutils write these lines, but they may also be untrusted: every word is taken
   with its length, and nothing is copied. Words are separated by any number of blanks or tabs. An
   undefined symbol (nm's U, without address), a heading and an empty line are no symbols; the
   caller skips them.

   With nm's demangling a name may contain blanks: it is then the rest of the line, except a last
   word in brackets, which in kallsyms names a module. */
#include "symbol_line.h"

#include "number_text.h"

#include <errno.h>
#include <string.h>

static bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t';
}

static struct span trim(struct span text) {
  while (text.len > 0 && is_blank(text.data[0])) text = span_of(text.data + 1, text.len - 1);
  while (text.len > 0 && (is_blank(text.data[text.len - 1]) || text.data[text.len - 1] == '\r'))
    text.len--;
  return text;
}

/* Takes the first word of TEXT. */
static struct span take_word(struct span *text) {
  size_t len = 0;
  while (len < text->len && !is_blank(text->data[len])) len++;
  struct span word = span_of(text->data, len);
  *text = trim(span_of(text->data + len, text->len - len));
  return word;
}

static bool parse_hex(struct span word, uint64_t *ret) {
  if (word.len > 2 && word.data[0] == '0' && (word.data[1] | 0x20) == 'x')
    word = span_of(word.data + 2, word.len - 2);
  return number_text_parse_hex(word, ret);
}

static bool is_letter(uint8_t c) {
  return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '?';
}

/* Takes a last word of the form [MODULE] off NAME. */
static struct span take_module(struct span *name) {
  if (name->len < 3 || name->data[name->len - 1] != ']') return span_of(name->data, 0);
  const uint8_t *open = memrchr(name->data, '[', name->len);
  if (open == NULL || open == name->data || !is_blank(open[-1])) return span_of(name->data, 0);
  size_t at = (size_t)(open - name->data);
  struct span module = span_of(open + 1, name->len - at - 2);
  *name = trim(span_of(name->data, at));
  return module;
}

static bool parse_line(struct span line, struct symbol_line *ret) {
  struct symbol_line found = {.size = 0};
  line = trim(line);
  if (!parse_hex(take_word(&line), &found.address)) return false;
  struct span word = take_word(&line);
  if (word.len > 1 && !parse_hex(word, &found.size)) return false;
  if (word.len > 1) word = take_word(&line);
  if (word.len != 1 || !is_letter(word.data[0]) || word.data[0] == 'U') return false;
  found.type = (char)word.data[0];
  found.module = take_module(&line);
  found.name = line;
  if (found.name.len == 0) return false;
  *ret = found;
  return true;
}

int symbol_line_next(struct span *text, struct symbol_line *ret) {
  if (text->len == 0) return -ENOENT;
  const uint8_t *newline = memchr(text->data, '\n', text->len);
  size_t len = newline ? (size_t)(newline - text->data) : text->len;
  struct span line = span_of(text->data, len);
  size_t taken = newline ? len + 1 : len;
  *text = span_of(text->data + taken, text->len - taken);
  return parse_line(line, ret) ? 0 : -EBADMSG;
}

bool symbol_line_is_code(const struct symbol_line *line) {
  return line->type != '\0' && strchr("TtWwi", line->type) != NULL;
}

unsigned symbol_line_rank(const struct symbol_line *line) {
  enum { NO_PLACE, DATA, LOCAL, WEAK, GLOBAL };
  const uint8_t *name = line->name.data;
  bool is_local_label = name[0] == '.' && line->name.len > 1 && name[1] == 'L';
  if (strchr("AaN-?", line->type) != NULL || name[0] == '$' || is_local_label) return NO_PLACE;
  if (!symbol_line_is_code(line)) return DATA;
  return line->type == 'T' ? GLOBAL : line->type == 't' ? LOCAL : WEAK;
}

static size_t count_underscores(struct span name) {
  size_t count = 0;
  while (count < name.len && name.data[count] == '_') count++;
  return count;
}

static int compare_size(size_t a, size_t b) {
  return a < b ? -1 : a > b;
}

int symbol_line_compare(const struct symbol_line *a, const struct symbol_line *b) {
  unsigned rank_a = symbol_line_rank(a), rank_b = symbol_line_rank(b);
  if (rank_a != rank_b) return rank_a > rank_b ? -1 : 1;
  int order = compare_size(count_underscores(a->name), count_underscores(b->name));
  if (order == 0) order = compare_size(a->name.len, b->name.len);
  return order != 0 ? order : memcmp(a->name.data, b->name.data, a->name.len);
}
