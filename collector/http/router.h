/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the row of a route table that a method and path mean.  Pure. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "common/span.h"
#include "identity/access.h"

struct request;

/* Where an answer is made. */
enum lane {
  LANE_LOOP,    /* at once, on the loop: touches no file and no database */
  LANE_QUERY,   /* by the query thread */
  LANE_MONITOR, /* by a thread for what reads no samples: answered while a query takes its time */
  LANE_UPLOAD,  /* by the upload thread, a piece of the body at a time */
};

struct route {
  const char *method; /* "GET" answers HEAD too unless HEAD has a row of its own */
  const char *path;   /* "/api/v1/labels/{name}": a brace stands for one path segment, "{+name}" for
                         all of the rest */
  enum role role;     /* ROLE_NONE: open to everybody */
  enum lane lane;
  const char *parameters; /* names, with a space between */
  void (*answer)(struct request *request);
  const char *summary;
};

struct route_match {
  const struct route *route;
  struct span argument; /* what stood for the brace, still escaped */
  char allow[64];       /* the methods of that path, for an Allow field */
};

/* Returns 0 with the row in RET; -ENOENT when TABLE has no such path; -EOPNOTSUPP when it has the
   path (RET->allow says for which methods).  Any thread. */
int route_find(const struct route *table, size_t count, struct span method, struct span path,
               struct route_match *ret);

/* Returns whether ROUTE takes a parameter called NAME.  Any thread. */
bool route_takes(const struct route *route, const char *name);

#endif
