/* SPDX-License-Identifier: Apache-2.0 */
/* What all requests share. */
#ifndef HTTP_SERVICE_H
#define HTTP_SERVICE_H

#include "client_list.h"
#include "http.h"
#include "kept_metrics.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs;
struct metrics;

/* What one query may allocate, beside what SQLite keeps of pages: its answer, the tree that it is
   made of, and what is read for that. */
#define QUERY_BYTES_MAX ((size_t)1 << 30)

struct service {
  struct http_parts parts;
  _Atomic size_t query_bytes; /* QUERY_BYTES_MAX, or less; relaxed */
  struct metrics *metrics;
  struct kept_metrics kept_metrics;
  struct jobs *queries, *monitor, *uploads; /* loop only */
  struct jobs *lookups;                     /* of tokens; loop only */
  bool is_loopback;                         /* nobody but this machine can connect */
  unsigned connections_max;
  struct client_list clients; /* loop only */
};

#endif
