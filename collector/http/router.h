/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the route for a method and path. Pure. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "common/span.h"
#include "identity/access.h"

struct request;

/* The thread that makes an answer. */
enum lane {
  LANE_LOOP,    /* at once, on the loop: must not use files or databases */
  LANE_QUERY,   /* the query thread */
  LANE_MONITOR, /* a thread for requests that read no samples: not delayed by queries */
  LANE_UPLOAD,  /* the upload thread, for each piece of the body */
};

struct route {
  const char *method; /* "GET" also answers HEAD unless HEAD has its own row */
  const char *path;   /* "/api/v1/labels/{name}": a brace stands for one path segment, "{+name}" for
                         all of the rest */
  enum role role;     /* ROLE_NONE: no token needed */
  enum lane lane;
  const char *parameters; /* names, separated by spaces */
  void (*answer)(struct request *request);
  const char *summary;
};

struct route_match {
  const struct route *route;
  struct span argument; /* the value of the brace, still escaped */
  char allow[64];       /* the methods of that path, for the Allow field */
};

/* Returns 0 with the row in RET; -ENOENT if TABLE has no matching path; -EOPNOTSUPP if it has the
   path with other methods, listed in RET->allow. Any thread. */
int route_find(const struct route *table, size_t count, struct span method, struct span path,
               struct route_match *ret);

/* Returns whether ROUTE accepts a parameter NAME. Any thread. */
bool route_takes(const struct route *route, const char *name);

#endif
