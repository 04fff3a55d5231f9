/* SPDX-License-Identifier: Apache-2.0 */
/* Demangled C++ names contain their types and have hundreds of characters; the name proper is in
   the middle:

      __gnu_cxx::__normal_iterator<int*, ...> std::__partition<int*>(int*, int*) [clone .isra.0]
      return type                             scope and name    arguments      suffix

   So the least informative part is removed first, and only as needed.  Names of other languages
   lack these parts and lose their middle: scope and last word stay.  There is no grammar here: a
   name that is parsed wrongly is shortened at another place. */
#include "name_fit.h"

#include "common/buf.h"

#include <stdbool.h>
#include <string.h>

#define GAP "..."

/* Offsets of the parts of a name; the name's end for a missing part. */
struct parts {
  size_t name, arguments, suffix, len;
};

static bool is_within_letter(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

size_t name_fit_columns(const char *text) {
  size_t columns = 0;
  for (; *text != '\0'; text++) columns += !is_within_letter(*text);
  return columns;
}

static bool begins(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

static bool is_word_letter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The length of the operator at TEXT.  Template arguments may follow: operator-<int>. */
static size_t sign_len(const char *text) {
  static const char *const signs[] = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "++",  "--",  "->",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|="};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (begins(text, signs[i])) return strlen(signs[i]);
  return *text != '\0' && strchr("<>=-+*/&|^!~%,", *text) != NULL;
}

/* The number of bytes at AT that are no bracket, although they look like one: an operator, or an
   anonymous namespace. */
static size_t skip_name(const char *name, size_t at) {
  static const char anonymous[] = "(anonymous namespace)", word[] = "operator";
  if (begins(name + at, anonymous)) return sizeof anonymous - 1;
  if (!begins(name + at, word) || (at > 0 && is_word_letter(name[at - 1]))) return 0;
  size_t end = at + sizeof word - 1;
  if (is_word_letter(name[end])) return 0;
  if (name[end] == ' ') return end + strcspn(name + end, "(") - at; /* new, delete, a type */
  end += sign_len(name + end);
  return end + begins(name + end, " <") - at; /* operator< <int> */
}

static int depth_of(char c) {
  if (c == '\0') return 0;
  if (strchr("<({[", c) != NULL) return 1;
  return strchr(">)}]", c) != NULL ? -1 : 0;
}

/* Returns the offset after the bracket that closes the bracket at AT. */
static size_t end_of_bracket(const char *name, size_t at) {
  int depth = 0;
  for (; name[at] != '\0'; at++) {
    bool is_arrow = name[at] == '>' && at > 0 && name[at - 1] == '-';
    if (!is_arrow) depth += depth_of(name[at]);
    if (depth == 0) return at + 1;
  }
  return at;
}

static struct parts parts_of(const char *name) {
  struct parts parts = {.len = strlen(name)};
  parts.arguments = parts.suffix = parts.len;
  for (size_t at = 0; at < parts.len;) {
    size_t skipped = skip_name(name, at);
    if (skipped > 0) {
      at += skipped;
    } else if (name[at] == '(') {
      parts.arguments = at;
      parts.suffix = end_of_bracket(name, at);
      break;
    } else if (depth_of(name[at]) > 0) {
      at = end_of_bracket(name, at);
    } else {
      if (name[at] == ' ' && name[at + 1] != '\0') parts.name = at + 1;
      at++;
    }
  }
  if (parts.arguments == parts.len) parts.name = 0; /* not a C++ function: blanks have no meaning */
  return parts;
}

/* Appends the bytes FROM to TO of NAME, without the contents of <>. */
static void print_bare(const char *name, size_t from, size_t to, struct buf *ret) {
  for (size_t at = from; at < to;) {
    size_t skipped = skip_name(name, at), end = at + (skipped > 0 ? skipped : 1);
    bool is_template = skipped == 0 && name[at] == '<' && at > from;
    if (is_template) end = end_of_bracket(name, at);
    if (end > to) end = to;
    if (is_template && end - at > strlen("<" GAP ">"))
      buf_append_string(ret, "<" GAP ">");
    else
      buf_append(ret, name + at, end - at);
    at = end;
  }
}

/* The byte offset of column COLUMN of TEXT. */
static size_t byte_of(const char *text, size_t column) {
  size_t at = 0;
  for (; text[at] != '\0'; at++)
    if (!is_within_letter(text[at]) && column-- == 0) break;
  return at;
}

/* Appends TEXT without its middle, COLUMNS wide. */
static void print_ends(const char *text, size_t columns, struct buf *ret) {
  size_t all = name_fit_columns(text), kept = columns - strlen(GAP), tail = kept / 2;
  buf_append(ret, text, byte_of(text, kept - tail));
  buf_append_string(ret, GAP);
  buf_append_string(ret, text + byte_of(text, all - tail));
}

enum { WITHOUT_RETURN, WITHOUT_ARGUMENTS, WITHOUT_TEMPLATES, STEPS };

/* Sets RET to NAME after STEP. */
static void shorten(const char *name, const struct parts *parts, int step, struct buf *ret) {
  bool has_more = parts->suffix > parts->arguments + strlen("(" GAP ")");
  buf_clear(ret);
  if (step < WITHOUT_TEMPLATES)
    buf_append(ret, name + parts->name, parts->arguments - parts->name);
  else
    print_bare(name, parts->name, parts->arguments, ret);
  if (step >= WITHOUT_ARGUMENTS && has_more)
    buf_append_string(ret, "(" GAP ")");
  else
    buf_append(ret, name + parts->arguments, parts->suffix - parts->arguments);
  buf_append(ret, name + parts->suffix, parts->len - parts->suffix);
}

void name_fit_print(const char *name, size_t columns, struct buf *ret) {
  struct buf shorter = {0};
  const char *text = name;
  if (columns > 0 && columns < NAME_FIT_LEAST) columns = NAME_FIT_LEAST;
  if (columns > 0 && name_fit_columns(name) > columns) {
    const struct parts parts = parts_of(name);
    for (int step = 0; step < STEPS && name_fit_columns(text) > columns; step++) {
      shorten(name, &parts, step, &shorter);
      text = buf_text(&shorter);
    }
  }
  if (columns > 0 && name_fit_columns(text) > columns)
    print_ends(text, columns, ret);
  else
    buf_append_string(ret, text);
  buf_fini(&shorter);
}
