/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by all requests. */
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

/* A query's allocation limit, without SQLite's page cache: for its answer, its tree, and the data
   read for it. */
#define QUERY_BYTES_MAX ((size_t)1 << 30)

struct service {
  struct http_parts parts;
  _Atomic size_t query_bytes; /* QUERY_BYTES_MAX or less; relaxed */
  struct metrics *metrics;
  struct kept_metrics kept_metrics;
  struct jobs *queries, *monitor, *uploads; /* loop only */
  struct jobs *lookups;                     /* of tokens; loop only */
  bool is_loopback;                         /* only this machine can connect */
  unsigned connections_max;
  struct client_list clients; /* loop only */
};

#endif
