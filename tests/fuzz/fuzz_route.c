/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as `METHOD /path?query`: the route, its parameters, and the selection they make. */
#include "common/arena.h"
#include "http/parameters.h"
#include "http/routes.h"
#include "http/selection.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ARENA_BYTES = 1 << 20 };

static struct span take(struct span *text, uint8_t separator) {
  const uint8_t *at = text->len ? memchr(text->data, separator, text->len) : NULL;
  size_t len = at ? (size_t)(at - text->data) : text->len;
  struct span part = span_of(text->data, len);
  size_t cut = at ? len + 1 : len;
  *text = span_of(text->data + cut, text->len - cut);
  return part;
}

static void try_parameters(const struct route_match *match, struct span query,
                           struct arena *arena) {
  struct parameters parameters;
  struct selection selection;
  struct selection_fault fault;
  char why[128];
  parameters_unescape(match->argument, false, arena);
  if (parameters_parse(query, arena, &parameters, why, sizeof why) != 0) return;
  for (unsigned i = 0; i < parameters.count; i++)
    route_takes(match->route, parameters.rows[i].name);
  if (selection_parse(&parameters, 1700000000000000000ULL, &selection, &fault) != 0) return;
  if (selection.from_ms > selection.to_ms || selection.limit == 0) abort();
  selection_fini(&selection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct route_match match;
  struct span query = span_of(data, len);
  struct span method = take(&query, ' ');
  struct span path = take(&query, '?');
  arena_init(&arena, ARENA_BYTES);
  if (route_find(routes, routes_count, method, path, &match) == 0) {
    if (match.route == NULL) abort();
    try_parameters(&match, query, &arena);
  }
  arena_fini(&arena);
  return 0;
}
