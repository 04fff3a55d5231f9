/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `fleetprof query`. */
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

/* One query per route. */
enum query_view {
  QUERY_PROFILE,
  QUERY_LOAD,
  QUERY_CALLERS,
  QUERY_CALLEES,
  QUERY_FUNCTION,
  QUERY_SERIES,
};

enum { QUERY_WHY_BYTES = 512 };
#define QUERY_FLAME_NODES UINT64_C(20000) /* the heaviest of a flame graph; a line has 1 % */

struct query_settings {
  struct query_options options;
  const char *selector;  /* as typed, or from the link; NULL: everything */
  struct page_link link; /* if a link was typed in place of a selector */
  enum query_view view;
  bool is_table; /* formatted text; else the collector's answer verbatim */
  bool is_flame; /* that text is a flame graph */
  bool is_done;  /* --help or --version was printed */
  char error[QUERY_WHY_BYTES];
};

/* Reads the command line; it may reorder the arguments.  Returns 0, or -EINVAL with one line in
   RET->error. */
int query_settings_parse(int argc, char **argv, struct query_settings *ret);

/* Appends the request path and parameters of SETTINGS. */
void query_settings_print_target(const struct query_settings *settings, struct buf *ret);

#endif
