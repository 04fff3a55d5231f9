/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are compared byte by byte: without decoding, folding of ".." or alternative spellings. So
   the access check and the handler see the same path. Only the value of a brace is decoded later,
   by its user. */
#include "router.h"

#include <errno.h>
#include <stdio.h>

static bool is_method(const struct route *route, struct span method) {
  return span_is_equal(span_of_string(route->method), method);
}

/* Returns whether PATH matches PATTERN, with the value of the brace in ARGUMENT. */
static bool is_path(const char *pattern, struct span path, struct span *argument) {
  const char *brace = strchr(pattern, '{');
  if (brace == NULL) return span_is_equal(span_of_string(pattern), path);
  size_t before = (size_t)(brace - pattern);
  const char *after = strchr(brace, '}') + 1;
  size_t after_len = strlen(after);
  if (path.len <= before + after_len || memcmp(path.data, pattern, before) != 0) return false;
  struct span middle = span_of(path.data + before, path.len - before - after_len);
  if (brace[1] != '+' && memchr(middle.data, '/', middle.len)) return false;
  if (memcmp(middle.data + middle.len, after, after_len) != 0) return false;
  *argument = middle;
  return true;
}

static void allow(struct route_match *match, const char *method) {
  size_t len = strlen(match->allow);
  const char *also = strcmp(method, "GET") == 0 ? ", HEAD" : "";
  if (strstr(match->allow, method) == NULL)
    snprintf(match->allow + len, sizeof match->allow - len, "%s%s%s", len ? ", " : "", method,
             also);
}

int route_find(const struct route *table, size_t count, struct span method, struct span path,
               struct route_match *ret) {
  struct route_match match = {0};
  bool is_head = span_is_equal(method, span_of_string("HEAD"));
  const struct route *get = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!is_path(table[i].path, path, &match.argument)) continue;
    if (is_method(&table[i], method)) {
      match.route = &table[i];
      *ret = match;
      return 0;
    }
    if (strcmp(table[i].method, "GET") == 0) get = &table[i];
    allow(&match, table[i].method);
  }
  match.route = is_head ? get : NULL;
  *ret = match;
  if (match.route) return 0;
  return match.allow[0] ? -EOPNOTSUPP : -ENOENT;
}

bool route_takes(const struct route *route, const char *name) {
  size_t len = strlen(name);
  for (const char *at = route->parameters; *at;) {
    size_t word = strcspn(at, " ");
    if (word == len && memcmp(at, name, len) == 0) return true;
    at += word + strspn(at + word, " ");
  }
  return false;
}
