/* SPDX-License-Identifier: Apache-2.0 */
/* Parses answers without a grammar. The lines of one address are separated by one of:

     the address before it            addr2line -a, llvm-addr2line -a, eu-addr2line -a
       0x401136
       plain
       a.c:5
     an empty line after it           llvm-symbolizer
       deep
       a.c:3:72
       mid
       a.c:4:69
                                      (mid is where deep was inlined into)
     "(inlined by)" before the others   addr2line -p
       deep at a.c:3
        (inlined by) mid at a.c:4
     the number of lines: one (a name), or two (a name, file:line) for each

   With inlined functions and no separator (addr2line -f -i) the pairs of one address cannot be
   separated from those of the next. Then, and whenever the count is wrong, all lines are rejected.

   Translators print "??" for an unknown name, and some print the address itself. A program that
   only echoes is not a translator (answer_lines_are_echo). A name may end in +0xOFFSET, which is
   not part of it; eu-addr2line's "f inlined at a.c:4 in main" is f. */
#include "answer_lines.h"

#include "common/buf.h"
#include "symbol/name_text.h"

#include <errno.h>
#include <limits.h>

enum { HEX_DIGITS_MAX = 16 };

enum form { FORM_ADDRESS, FORM_BLANK, FORM_PRETTY, FORM_ONE, FORM_PAIR };

struct counts {
  uint32_t lines, addresses, blanks, continuations;
  bool ends_blank;
};

struct parser {
  struct arena *arena;
  uint64_t address; /* the address of this answer */
  struct buf clean;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  uint32_t count;
};

static const char inlined_by[] = " (inlined by) ";

static struct span take_line(struct span *text) {
  const uint8_t *newline = memchr(text->data, '\n', text->len);
  size_t len = newline ? (size_t)(newline - text->data) : text->len;
  struct span line = span_of(text->data, len);
  size_t taken = newline ? len + 1 : len;
  *text = span_of(text->data + taken, text->len - taken);
  if (line.len > 0 && line.data[line.len - 1] == '\r') line.len--;
  return line;
}

static int digit_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns how many bytes at the head of TEXT are 0x and digits; 0: not a number. */
static size_t number_len(struct span text, uint64_t *ret) {
  uint64_t value = 0;
  size_t at = 2;
  if (text.len < 3 || text.data[0] != '0' || text.data[1] != 'x') return 0;
  for (; at < text.len && digit_of(text.data[at]) >= 0; at++)
    value = value << 4 | (unsigned)digit_of(text.data[at]);
  *ret = value;
  return at > 2 && at <= 2 + HEX_DIGITS_MAX ? at : 0;
}

static bool is_address(struct span line, uint64_t *ret) {
  size_t len = number_len(line, ret);
  return len > 0 && len == line.len;
}

static bool starts_with(struct span line, const char *word) {
  size_t len = strlen(word);
  return line.len >= len && memcmp(line.data, word, len) == 0;
}

static struct counts count_lines(struct span text) {
  struct counts counts = {0};
  uint64_t address;
  while (text.len > 0) {
    struct span line = take_line(&text);
    counts.lines++;
    counts.ends_blank = line.len == 0;
    counts.blanks += counts.ends_blank;
    counts.addresses += is_address(line, &address);
    counts.continuations += starts_with(line, inlined_by);
  }
  return counts;
}

/* Returns the form of the answers to COUNT addresses, or -EBADMSG. */
static int find_form(struct span text, uint32_t count) {
  struct counts counts = count_lines(text);
  uint64_t address;
  if (counts.addresses == count && counts.lines > count && is_address(take_line(&text), &address))
    return FORM_ADDRESS;
  if (counts.blanks == count && counts.ends_blank && counts.lines > count) return FORM_BLANK;
  if (counts.continuations > 0 && counts.lines - counts.continuations == count) return FORM_PRETTY;
  if (counts.lines == count) return FORM_ONE;
  return counts.lines == 2ULL * count ? FORM_PAIR : -EBADMSG;
}

static bool is_known(struct span text) {
  return text.len > 0 && !(text.len >= 2 && text.data[0] == '?' && text.data[1] == '?');
}

static const uint8_t *find_last(struct span text, const char *word) {
  size_t len = strlen(word);
  for (size_t at = text.len; at >= len; at--)
    if (memcmp(text.data + at - len, word, len) == 0) return text.data + at - len;
  return NULL;
}

/* Sets RET to the text before the last WORD of TEXT, and TEXT to the text after it. */
static bool split_last(struct span *text, const char *word, struct span *ret) {
  const uint8_t *at = find_last(*text, word);
  if (at == NULL) return false;
  size_t before = (size_t)(at - text->data), taken = before + strlen(word);
  *ret = span_of(text->data, before);
  *text = span_of(text->data + taken, text->len - taken);
  return true;
}

static const char *keep_text(struct parser *parser, struct span text) {
  buf_clear(&parser->clean);
  name_text_append(text, INDEX_NAME_BYTES_MAX, &parser->clean);
  if (parser->clean.failed) return NULL;
  return arena_string(parser->arena, parser->clean.data, parser->clean.len - 1);
}

/* Reads a number of digits alone, or "?", which is 0. */
static bool is_number(struct span text, uint32_t *ret) {
  uint64_t value = 0;
  if (text.len == 1 && text.data[0] == '?')
    text.len = 0, value = 0;
  else if (text.len == 0 || text.len > 10)
    return false;
  for (size_t i = 0; i < text.len; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    value = value * 10 + (text.data[i] - '0');
  }
  *ret = value <= UINT32_MAX ? (uint32_t)value : 0;
  return true;
}

/* Cuts ":NUMBER" off the end of TEXT. */
static bool take_number(struct span *text, uint32_t *ret) {
  struct span number = *text, before;
  if (!split_last(&number, ":", &before) || !is_number(number, ret)) return false;
  *text = before;
  return true;
}

/* Parses "file:line" or "file:line:column", optionally followed by " (discriminator 3)". */
static bool split_place(struct span text, struct span *ret_file, uint32_t *ret_line) {
  struct span before, rest = text;
  uint32_t last, line;
  if (split_last(&rest, " (discriminator ", &before)) text = before;
  if (!take_number(&text, &last)) return false;
  *ret_line = take_number(&text, &line) ? line : last;
  *ret_file = text;
  return true;
}

/* Cuts +0xOFFSET off the end of NAME. */
static bool take_offset(struct span *name, uint64_t *ret) {
  struct span rest = *name, before;
  if (!split_last(&rest, "+0x", &before) || before.len == 0) return false;
  if (!is_address(span_of(rest.data - 2, rest.len + 2), ret)) return false;
  *name = before;
  return true;
}

static int add_frame(struct parser *parser, struct span name, struct span place) {
  struct symbol_frame *frame = &parser->frames[parser->count];
  struct span file, before = {NULL, 0}, rest = name;
  uint32_t line;
  uint64_t offset;
  if (!is_known(name) || parser->count == SYMBOL_CHAIN_MAX) return 0;
  if (is_address(name, &offset) && offset == parser->address) return 0;
  if (split_last(&rest, " inlined at ", &before) && before.len > 0) name = before;
  *frame = (struct symbol_frame){.start = 0};
  if (take_offset(&name, &offset) && offset < parser->address)
    frame->start = parser->address - offset;
  frame->name = keep_text(parser, name);
  if (frame->name == NULL) return -ENOMEM;
  if (is_known(place) && split_place(place, &file, &line) && file.len > 0) {
    frame->file = keep_text(parser, file);
    frame->line = line;
    if (frame->file == NULL) return -ENOMEM;
  }
  parser->count++;
  return 0;
}

/* Parses "f at a.c:3", optionally after "(inlined by)" or "0xADDRESS: "; or a name alone. */
static int add_pretty(struct parser *parser, struct span line) {
  struct span name, place = line, file;
  uint64_t address;
  uint32_t number;
  if (starts_with(line, inlined_by))
    line = span_of(line.data + sizeof inlined_by - 1, line.len - sizeof inlined_by + 1);
  size_t len = number_len(line, &address);
  if (len > 0 && len + 2 <= line.len && memcmp(line.data + len, ": ", 2) == 0)
    line = span_of(line.data + len + 2, line.len - len - 2);
  place = line;
  bool has_place = split_last(&place, " at ", &name) && split_place(place, &file, &number);
  return has_place ? add_frame(parser, name, place) : add_frame(parser, line, span_of(NULL, 0));
}

/* Whether an answer has an incomplete pair of lines; a single line is complete. */
static bool is_odd(struct span block) {
  uint32_t count = count_lines(block).lines;
  return count > 1 && count % 2 != 0;
}

static int add_block(struct parser *parser, struct span block) {
  int error = is_odd(block) ? -EBADMSG : 0;
  while (block.len > 0 && error == 0) {
    struct span name = take_line(&block), place = {NULL, 0};
    if (block.len > 0) place = take_line(&block);
    error = add_frame(parser, name, place);
  }
  return error;
}

/* Takes the lines up to an empty one, or up to the next address, off TEXT. */
static struct span take_block(struct span *text, enum form form) {
  struct span rest = *text, before = rest;
  uint64_t address;
  while (rest.len > 0) {
    before = rest;
    struct span line = take_line(&rest);
    bool is_end = form == FORM_BLANK ? line.len == 0 : is_address(line, &address);
    if (is_end) break;
    before = rest;
  }
  struct span block = span_of(text->data, (size_t)(before.data - text->data));
  *text = form == FORM_BLANK ? rest : before;
  return block;
}

static struct span take_lines(struct span *text, unsigned count) {
  struct span block = *text;
  while (count-- > 0) take_line(text);
  block.len = (size_t)(text->data - block.data);
  return block;
}

static int take_pretty(struct parser *parser, struct span *text) {
  int error = add_pretty(parser, take_line(text));
  while (error == 0 && starts_with(*text, inlined_by)) error = add_pretty(parser, take_line(text));
  return error;
}

/* Takes the answer for ADDRESS off TEXT. */
static int take_answer(struct parser *parser, enum form form, uint64_t address, struct span *text) {
  uint64_t told;
  switch (form) {
  case FORM_ADDRESS:
    if (!is_address(take_line(text), &told) || told != address) return -EBADMSG;
    return add_block(parser, take_block(text, form));
  case FORM_BLANK:
    return add_block(parser, take_block(text, form));
  case FORM_PAIR:
    return add_block(parser, take_lines(text, 2));
  case FORM_ONE:
  case FORM_PRETTY:
    return take_pretty(parser, text);
  }
  return -EBADMSG;
}

static int keep_answer(const struct parser *parser, struct answer *ret) {
  struct symbol_frame *frames = arena_array(parser->arena, parser->count, sizeof *frames);
  *ret = (struct answer){frames, parser->count};
  if (parser->count == 0) return 0;
  if (frames == NULL) return -ENOMEM;
  memcpy(frames, parser->frames, parser->count * sizeof *frames);
  return 0;
}

int answer_lines_parse(struct span lines, const struct answer_question *question,
                       struct arena *arena, struct answer *ret) {
  struct parser parser = {.arena = arena};
  int form = question->count > 0 ? find_form(lines, question->count) : -EBADMSG;
  int error = form < 0 ? form : 0;
  for (uint32_t i = 0; i < question->count && error == 0; i++) {
    parser.count = 0;
    parser.address = question->addresses[i];
    error = take_answer(&parser, (enum form)form, question->addresses[i], &lines);
    if (error == 0) error = keep_answer(&parser, &ret[i]);
  }
  if (error == 0 && lines.len > 0) error = -EBADMSG;
  buf_fini(&parser.clean);
  return error;
}

bool answer_lines_are_echo(struct span lines, const struct answer_question *question) {
  uint64_t address;
  for (uint32_t i = 0; i < question->count; i++)
    if (!is_address(take_line(&lines), &address) || address != question->addresses[i]) return false;
  return lines.len == 0;
}
