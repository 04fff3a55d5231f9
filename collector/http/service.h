/* SPDX-License-Identifier: Apache-2.0 */
/* What all requests share. */
#ifndef HTTP_SERVICE_H
#define HTTP_SERVICE_H

#include "client_list.h"
#include "http.h"
#include "profile_metrics.h"

#include <stdbool.h>
#include <stdint.h>

struct jobs;
struct metrics;

struct service {
  struct http_parts parts;
  struct metrics *metrics;
  struct profile_metrics profile_metrics; /* query thread only */
  struct jobs *queries, *uploads; /* loop only */
  struct jobs *lookups;           /* of tokens; loop only */
  bool is_loopback;               /* nobody but this machine can connect */
  unsigned connections_max;
  struct client_list clients; /* loop only */
};

#endif
