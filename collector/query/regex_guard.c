/* SPDX-License-Identifier: Apache-2.0 */
/* Any client with read access may send selectors, and a line of text can make glibc's regcomp take
   gigabytes or years. Three constructs are rejected before regcomp gets the expression:

     back-references     exponential time when matching
     sizes               x{3,9} is compiled as nine copies, x+ as xx*; nested, that multiplies:
                         ((x{99}){99}){99}. The copies are counted.
     empty loops         (x*)*, x*+, (a|)*: a loop with a body that may match nothing is a cycle
                         of empty steps, and glibc follows every path through it (measured: the
                         18 bytes ((a?b?c?d?)*){60} never return). The loop without the empty
                         match is equivalent.

   All other expressions compile in milliseconds. The walk is exact for well-formed expressions:
   atoms and loops add up, a group is the sum of its content, and may be empty if one of its
   alternatives may. For malformed expressions the result is arbitrary; regcomp rejects them. */
#include "regex_guard.h"

#include "selector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct piece {
  size_t size;
  bool is_empty; /* may match the empty string */
};

struct walk {
  struct group {
    struct piece sequence; /* the current alternative, without the last atom */
    bool has_empty;        /* an earlier alternative may be empty */
  } groups[SELECTOR_REGEX_MAX + 1];
  size_t depth;
  struct piece last; /* atom or group, with its repetitions */
  const char *why;
};

static const struct piece nothing = {0, true};

static size_t limited(size_t size) {
  return size > REGEX_SIZE_MAX ? REGEX_SIZE_MAX + 1 : size;
}

static void begin_atom(struct walk *walk, struct piece atom) {
  struct piece *sequence = &walk->groups[walk->depth].sequence;
  sequence->size = limited(sequence->size + walk->last.size);
  sequence->is_empty = sequence->is_empty && walk->last.is_empty;
  walk->last = atom;
}

static void end_alternative(struct walk *walk) {
  struct group *group = &walk->groups[walk->depth];
  begin_atom(walk, nothing);
  group->has_empty = group->has_empty || group->sequence.is_empty;
  group->sequence.is_empty = true;
}

static void open_group(struct walk *walk) {
  begin_atom(walk, nothing);
  if (walk->depth < SELECTOR_REGEX_MAX) walk->depth++;
  walk->groups[walk->depth] = (struct group){nothing, false};
}

static void close_group(struct walk *walk) {
  if (walk->depth == 0) return;
  end_alternative(walk);
  const struct group *group = &walk->groups[walk->depth--];
  walk->last = (struct piece){limited(group->sequence.size + 1), group->has_empty};
}

static void repeat(struct walk *walk, size_t copies, bool may_skip, bool is_loop) {
  if (is_loop && walk->last.is_empty) walk->why = "repeats what may be empty";
  walk->last.size = limited(walk->last.size * copies + (copies == 1));
  walk->last.is_empty = walk->last.is_empty || may_skip;
}

/* Skips a bracket expression from its [. Returns its last character. */
static const char *skip_brackets(const char *at) {
  at += at[1] == '^' ? 2 : 1;
  if (*at == ']') at++; /* as the first character it is literal */
  while (*at != '\0' && *at != ']') {
    char kind = at[0] == '[' ? at[1] : '\0';
    at++;
    if (kind != ':' && kind != '.' && kind != '=') continue;
    at++; /* [:alpha:] and similar end with the same sign and a ] */
    while (*at != '\0' && !(*at == kind && at[1] == ']')) at++;
    if (*at != '\0') at += 2;
  }
  return *at != '\0' ? at : at - 1;
}

/* Reads a count, limited; FALLBACK if there is none. */
static size_t read_count(const char **at, size_t fallback) {
  if (!isdigit((unsigned char)**at)) return fallback;
  char *end = NULL;
  unsigned long count = strtoul(*at, &end, 10);
  *at = end;
  return limited(count);
}

/* Reads {n}, {n,}, {,m} or {n,m} from its {. Returns its last character. */
static const char *read_counts(struct walk *walk, const char *at) {
  at++;
  size_t least = read_count(&at, 0), most = least;
  bool is_loop = false;
  if (*at == ',') {
    at++;
    is_loop = !isdigit((unsigned char)*at);
    most = read_count(&at, least + 1);
  }
  repeat(walk, most > 0 ? most : 1, least == 0, is_loop);
  return *at == '}' ? at : at - 1;
}

/* Reads the escape with its backslash at AT. Returns its last character. */
static const char *read_escape(struct walk *walk, const char *at) {
  char letter = at[1];
  if (isdigit((unsigned char)letter)) walk->why = "has a back-reference";
  /* \< \> \b \B \` \' are places, not characters */
  bool is_place = letter != '\0' && strchr("<>bB`'", letter) != NULL;
  begin_atom(walk, (struct piece){1, is_place});
  return letter != '\0' ? at + 1 : at;
}

static const char *step(struct walk *walk, const char *at) {
  switch (*at) {
  case '(':
    open_group(walk);
    return at;
  case ')':
    close_group(walk);
    return at;
  case '|':
    end_alternative(walk);
    return at;
  case '{':
    return read_counts(walk, at);
  case '+':
    repeat(walk, 2, false, true);
    return at;
  case '*':
    repeat(walk, 1, true, true);
    return at;
  case '?':
    repeat(walk, 1, true, false);
    return at;
  case '[':
    begin_atom(walk, (struct piece){1, false});
    return skip_brackets(at);
  case '\\':
    return read_escape(walk, at);
  default:
    begin_atom(walk, (struct piece){1, *at == '^' || *at == '$'});
    return at;
  }
}

const char *regex_guard(const char *regex, size_t *ret_size) {
  struct walk walk = {.last = nothing, .groups = {{nothing, false}}};
  for (const char *at = regex; *at != '\0' && walk.why == NULL; at++) at = step(&walk, at);
  while (walk.depth > 0) close_group(&walk);
  begin_atom(&walk, nothing);
  *ret_size = walk.groups[0].sequence.size;
  if (walk.why == NULL && *ret_size > REGEX_SIZE_MAX) walk.why = "repeats itself too often";
  return walk.why;
}
