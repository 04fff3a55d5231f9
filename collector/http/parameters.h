/* SPDX-License-Identifier: Apache-2.0 */
/* The query part of a request, decoded: `a=1&b=%7B%7D`.  Pure. */
#ifndef HTTP_PARAMETERS_H
#define HTTP_PARAMETERS_H

#include "common/span.h"

struct arena;

enum { PARAMETERS_MAX = 20 };

struct parameter {
  const char *name, *value;
};

struct parameters {
  unsigned count;
  struct parameter rows[PARAMETERS_MAX];
};

/* Replaces %XX (and + by a space if IS_FORM) in TEXT. Returns the text, in ARENA, or NULL if an
   escape is broken or means NUL, or if memory is out. Any thread. */
const char *parameters_unescape(struct span text, bool is_form, struct arena *arena);

/* Parses QUERY into RET; its strings live in ARENA. Returns 0, or -EINVAL with the reason, which
   names the parameter, in WHY. Any thread. */
int parameters_parse(struct span query, struct arena *arena, struct parameters *ret, char *why,
                     size_t why_len);

/* Returns the value of NAME, or NULL.  Any thread. */
const char *parameters_find(const struct parameters *parameters, const char *name);

#endif
