/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, as in Prometheus:

     selector = "" | "{" [ matcher { "," matcher } [ "," ] ] "}"
     matcher  = name ( "=" | "!=" | "=~" | "!~" ) quoted

   Names are letters, digits and `_.-/`, not starting with a digit. A quoted value is in double or
   single quotes with \\ \" \' \n \t. Spaces may stand between all parts.

   An absent label is the empty string. A board is matched by its present labels, a series by those
   that it was stored with. A program may have labels that its board lacks, so a query over samples
   excludes a board only by its name.

   Regular expressions are POSIX extended, wrapped in ^( )$, and must pass regex_guard. */
#include "selector.h"

#include "regex_guard.h"
#include "store/store_read.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum matcher_kind { EQUAL, NOT_EQUAL, MATCHES, MATCHES_NOT };

struct matcher {
  enum matcher_kind kind;
  char *name, *value; /* point into the selector's text */
  bool has_regex;
  regex_t regex;
};

struct selector {
  unsigned count;
  struct matcher matchers[SELECTOR_MATCHERS_MAX];
  char *text; /* copy of the parsed text, split into names and values */
};

struct parser {
  struct selector *selector;
  char *start, *at;
  char *why;
  size_t why_len;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct parser *parser, int error,
                                                        const char *format, ...) {
  va_list arguments;
  int len = snprintf(parser->why, parser->why_len,
                     "character %zu: ", (size_t)(parser->at - parser->start) + 1);
  if (len < 0 || (size_t)len >= parser->why_len) return error;
  va_start(arguments, format);
  vsnprintf(parser->why + len, parser->why_len - (size_t)len, format, arguments);
  va_end(arguments);
  return error;
}

static void skip_spaces(struct parser *parser) {
  while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n') parser->at++;
}

static bool is_name_letter(char letter, bool is_first) {
  if (isalpha((unsigned char)letter) || letter == '_') return true;
  return !is_first && (isdigit((unsigned char)letter) || (letter != '\0' && strchr(".-/", letter)));
}

/* Parses a name. Its end is marked only after the operator behind it has been read. */
static int parse_name(struct parser *parser, struct matcher *matcher, char **ret_end) {
  matcher->name = parser->at;
  while (is_name_letter(*parser->at, parser->at == matcher->name)) parser->at++;
  if (parser->at == matcher->name) return refuse(parser, -EINVAL, "a label name was expected");
  *ret_end = parser->at;
  return 0;
}

static int parse_operator(struct parser *parser, struct matcher *matcher) {
  static const struct {
    const char *text;
    enum matcher_kind kind;
  } operators[] = {{"=~", MATCHES}, {"!~", MATCHES_NOT}, {"!=", NOT_EQUAL}, {"=", EQUAL}};
  for (unsigned i = 0; i < 4; i++) {
    size_t len = strlen(operators[i].text);
    if (strncmp(parser->at, operators[i].text, len) != 0) continue;
    matcher->kind = operators[i].kind;
    parser->at += len;
    return 0;
  }
  return refuse(parser, -EINVAL, "one of = != =~ !~ was expected");
}

static int unescape(char letter, char *ret) {
  static const char letters[] = "\\\"'nt", meanings[] = "\\\"'\n\t";
  const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
  if (found == NULL) return -EINVAL;
  *ret = meanings[found - letters];
  return 0;
}

/* Unquotes in place, as the value only shrinks. */
static int parse_value(struct parser *parser, struct matcher *matcher) {
  char quote = *parser->at;
  if (quote != '"' && quote != '\'') return refuse(parser, -EINVAL, "a quoted value was expected");
  char *to = ++parser->at;
  matcher->value = to;
  for (; *parser->at != quote; parser->at++) {
    if (*parser->at == '\0') return refuse(parser, -EINVAL, "the value has no closing %c", quote);
    char letter = *parser->at;
    if (letter == '\\' && unescape(*++parser->at, &letter) != 0)
      return refuse(parser, -EINVAL, "an unknown escape; \\\\ is a backslash");
    *to++ = letter;
  }
  parser->at++;
  *to = '\0';
  return 0;
}

static int compile(struct parser *parser, struct matcher *matcher) {
  char anchored[SELECTOR_REGEX_MAX + 8], why[128];
  const char *regex = matcher->value;
  size_t size = 0;
  if (strlen(regex) > SELECTOR_REGEX_MAX)
    return refuse(parser, -EOVERFLOW, "the regular expression before is longer than %d bytes",
                  SELECTOR_REGEX_MAX);
  const char *refused = regex_guard(regex, &size);
  if (refused != NULL) return refuse(parser, -EINVAL, "the regular expression before %s", refused);
  snprintf(anchored, sizeof anchored, "^(%s)$", regex);
  int code = regcomp(&matcher->regex, anchored, REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    regerror(code, &matcher->regex, why, sizeof why);
    return refuse(parser, code == REG_ESPACE ? -ENOMEM : -EINVAL,
                  "the regular expression before is wrong: %s", why);
  }
  matcher->has_regex = true;
  return 0;
}

static int parse_matcher(struct parser *parser) {
  struct selector *selector = parser->selector;
  char *name_end = NULL;
  if (selector->count == SELECTOR_MATCHERS_MAX)
    return refuse(parser, -EOVERFLOW, "there are more than %d matchers", SELECTOR_MATCHERS_MAX);
  struct matcher *matcher = &selector->matchers[selector->count];
  int error = parse_name(parser, matcher, &name_end);
  skip_spaces(parser);
  if (error == 0) error = parse_operator(parser, matcher);
  if (error != 0) return error;
  *name_end = '\0';
  skip_spaces(parser);
  error = parse_value(parser, matcher);
  if (error == 0 && matcher->kind >= MATCHES) error = compile(parser, matcher);
  if (error == 0) selector->count++;
  return error;
}

static int parse_matchers(struct parser *parser) {
  skip_spaces(parser);
  while (*parser->at != '}') {
    int error = parse_matcher(parser);
    if (error != 0) return error;
    skip_spaces(parser);
    if (*parser->at == ',')
      parser->at++;
    else if (*parser->at != '}')
      return refuse(parser, -EINVAL, "a comma or } was expected");
    skip_spaces(parser);
  }
  parser->at++;
  return 0;
}

static int parse(struct parser *parser) {
  skip_spaces(parser);
  if (*parser->at == '\0') return 0;
  if (*parser->at != '{') return refuse(parser, -EINVAL, "a selector begins with {");
  parser->at++;
  int error = parse_matchers(parser);
  skip_spaces(parser);
  if (error == 0 && *parser->at != '\0') return refuse(parser, -EINVAL, "something follows the }");
  return error;
}

int selector_parse(const char *text, struct selector **ret, char *why, size_t why_len) {
  if (strlen(text) > SELECTOR_TEXT_MAX) {
    snprintf(why, why_len, "the selector is longer than %d bytes", SELECTOR_TEXT_MAX);
    return -EOVERFLOW;
  }
  struct selector *selector = calloc(1, sizeof *selector);
  if (selector != NULL) selector->text = strdup(text);
  if (selector == NULL || selector->text == NULL) {
    selector_free(selector);
    snprintf(why, why_len, "out of memory");
    return -ENOMEM;
  }
  struct parser parser = {selector, selector->text, selector->text, why, why_len};
  int error = parse(&parser);
  if (error != 0) {
    selector_free(selector);
    return error;
  }
  *ret = selector;
  return 0;
}

void selector_free(struct selector *selector) {
  if (selector == NULL) return;
  for (unsigned i = 0; i < selector->count; i++)
    if (selector->matchers[i].has_regex) regfree(&selector->matchers[i].regex);
  free(selector->text);
  free(selector);
}

static bool matcher_agrees(const struct matcher *matcher, const char *value) {
  switch (matcher->kind) {
  case EQUAL:
    return strcmp(value, matcher->value) == 0;
  case NOT_EQUAL:
    return strcmp(value, matcher->value) != 0;
  case MATCHES:
    return regexec(&matcher->regex, value, 0, NULL, 0) == 0;
  default:
    return regexec(&matcher->regex, value, 0, NULL, 0) != 0;
  }
}

bool selector_matches(const struct selector *selector, const struct store_series *series) {
  for (unsigned i = 0; i < selector->count; i++) {
    const char *value = store_series_label(series, selector->matchers[i].name);
    if (!matcher_agrees(&selector->matchers[i], value != NULL ? value : "")) return false;
  }
  return true;
}

bool selector_may_match_board(const struct selector *selector, const char *name) {
  for (unsigned i = 0; i < selector->count; i++) {
    const struct matcher *matcher = &selector->matchers[i];
    if (strcmp(matcher->name, "board") == 0 && !matcher_agrees(matcher, name)) return false;
  }
  return true;
}

static const char *board_label(const struct store_board *board, const char *name) {
  if (strcmp(name, "board") == 0) return board->name;
  if (strcmp(name, "arch") == 0) return board->arch;
  if (strcmp(name, "kernel") == 0) return board->kernel;
  for (uint32_t i = 0; i < board->label_count; i++)
    if (strcmp(board->labels[i].name, name) == 0) return board->labels[i].value;
  return NULL;
}

bool selector_matches_board(const struct selector *selector, const struct store_board *board) {
  for (unsigned i = 0; i < selector->count; i++) {
    const char *value = board_label(board, selector->matchers[i].name);
    if (!matcher_agrees(&selector->matchers[i], value != NULL ? value : "")) return false;
  }
  return true;
}

bool selector_asks_for(const struct selector *selector, const char *name) {
  for (unsigned i = 0; i < selector->count; i++)
    if (strcmp(selector->matchers[i].name, name) == 0) return true;
  return false;
}

bool selector_names_boards(const struct selector *selector) {
  for (unsigned i = 0; i < selector->count; i++) {
    const struct matcher *matcher = &selector->matchers[i];
    if (strcmp(matcher->name, "board") != 0) continue;
    if (matcher->kind == EQUAL) return true;
    if (matcher->kind == MATCHES && strpbrk(matcher->value, "*+?[({") == NULL) return true;
  }
  return false;
}

const char *selector_sample_label(const struct selector *selector) {
  static const char *const names[] = {"service", "exe", "build_id", "thread"};
  for (unsigned i = 0; i < selector->count; i++)
    for (size_t j = 0; j < sizeof names / sizeof *names; j++)
      if (strcmp(selector->matchers[i].name, names[j]) == 0) return names[j];
  return NULL;
}
