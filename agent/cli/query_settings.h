/* SPDX-License-Identifier: Apache-2.0 */
/* What `fleetprof query` was asked for. */
#ifndef CLI_QUERY_SETTINGS_H
#define CLI_QUERY_SETTINGS_H

#include "api_client.h"
#include "page_link.h"

#include <stdbool.h>

struct query_options {
  struct api_options api;
  const char *from, *to, *type, *format, *output;
  const char *by, *callers, *callees, *function, *module, *step;
  uint64_t limit, depth;
};

/* One question for each route. */
enum query_view {
  QUERY_PROFILE,
  QUERY_LOAD,
  QUERY_CALLERS,
  QUERY_CALLEES,
  QUERY_FUNCTION,
  QUERY_SERIES,
};

enum { QUERY_WHY_BYTES = 512 };
#define QUERY_FLAME_NODES UINT64_C(20000) /* of a flame graph: the heaviest; a line has 1 % */

struct query_settings {
  struct query_options options;
  const char *selector;  /* as it was typed, or of the link; NULL: everything */
  struct page_link link; /* where one was typed in its place */
  enum query_view view;
  bool is_table; /* text for people; else what the collector answers, as it is */
  bool is_flame; /* such text: a flame graph */
  bool is_done;  /* --help or --version was printed */
  char error[QUERY_WHY_BYTES];
};

/* Reads the command line, of which it may change the order.  Returns 0, or -EINVAL with one line in
   RET->error. */
int query_settings_parse(int argc, char **argv, struct query_settings *ret);

/* Appends the path and parameters of what SETTINGS ask. */
void query_settings_print_target(const struct query_settings *settings, struct buf *ret);

#endif
