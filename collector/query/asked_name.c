/* SPDX-License-Identifier: Apache-2.0 */
/* A readable C++ name is `[return type ]name(arguments)[ const][ [clone ...]]`. Spaces and
   parentheses may also occur in template arguments, in `(anonymous namespace)` and in operators
   (`operator()`, `operator<`, `operator bool`). So the name is the text between the last space and
   the first parenthesis outside all of these. */
#include "asked_name.h"

#include "view/module_builds.h"

#include <stddef.h>
#include <string.h>

static bool starts_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_of_a_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns the length of the operator's name at TEXT; 0: TEXT begins with none. */
static size_t operator_length(const char *text) {
  static const char word[] = "operator";
  size_t at = sizeof word - 1;
  if (!starts_with(text, word) || is_of_a_word(text[at])) return 0;
  if (starts_with(text + at, "()")) return at + 2;
  if (text[at] == ' ') return at + strcspn(text + at, "("); /* a type, new, delete */
  return at + strspn(text + at, "<>=!+-*/%^&|~,[]");
}

struct part {
  const char *start;
  size_t len;
};

static struct part name_part(const char *name) {
  static const char anonymous[] = "(anonymous namespace)";
  struct part part = {name, strlen(name)};
  int depth = 0; /* of template arguments */
  for (const char *at = name; *at != '\0'; at++) {
    bool begins_a_word = at == name || !is_of_a_word(at[-1]);
    size_t skipped = begins_a_word ? operator_length(at) : 0;
    if (starts_with(at, anonymous)) skipped = sizeof anonymous - 1;
    if (skipped > 0) {
      at += skipped - 1;
      continue;
    }
    if (*at == '<') depth++;
    if (*at == '>') depth--;
    if (depth != 0) continue;
    if (*at == ' ' && at[1] != '<') part.start = at + 1; /* but not in operator< <T> */
    if (*at == '(') {
      part.len = (size_t)(at - part.start);
      return part;
    }
  }
  return (struct part){name, strlen(name)};
}

bool asked_name_is(const char *asked, const char *name) {
  if (strcmp(asked, name) == 0) return true;
  struct part part = name_part(name);
  return strlen(asked) == part.len && memcmp(asked, part.start, part.len) == 0;
}

bool asked_function_is(const char *asked, const struct view_function *function) {
  if (function->of != NULL) return module_builds_means(function, asked);
  return asked_name_is(asked, function->name);
}
