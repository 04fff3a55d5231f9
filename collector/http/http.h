/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP API and the page.  The loop thread parses requests and sends answers; threads
   make them. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct access;
struct ca;
struct debug_store;
struct event_base;
struct http;
struct ingest;
struct option_list;
struct quotas;
struct source_store;
struct store;
struct symbolizer;

struct http_parts { /* all borrowed, and outlive the server */
  struct event_base *loop;
  struct ca *ca;
  struct access *access;
  struct store *store;
  struct debug_store *debug;
  struct source_store *sources;
  struct symbolizer *symbolizer;
  struct quotas *quotas; /* or NULL: boards have none */
  const char *address; /* "127.0.0.1:7480"; any address but loopback serves TLS and wants a token */
  const char *public_name; /* of links, in the place of the address; or NULL */
  /* Appends other parts' counters to /metrics; may be NULL. */
  void (*metrics)(void *context, void *buf);
  void *metrics_context;
  /* Since when BOARD is revoked, in seconds since 1970; 0: it is not.  Any thread; waits for
     nothing.  May be NULL: none is. */
  int64_t (*revoked_s)(void *context, const char *board);
  void *revoked_context;
  const struct option_list *watched; /* functions whose shares are on /metrics, or NULL... */
  const char *watched_by;            /* ...and the label that tells their releases apart */
};

/* Starts serving.  Returns 0 or -errno, with one line in ERROR. */
int http_start(const struct http_parts *parts, struct http **ret, char *error, size_t error_len);

/* Returns where people reach it: "http://127.0.0.1:7480/". */
const char *http_url(const struct http *http);

/* Returns where people see what is collected: the same, or, of a collector that was built without
   its page, where the API begins, "http://127.0.0.1:7480/api/v1/". */
const char *http_page_url(const struct http *http);

/* The process may have BYTES of memory (0: nobody knows): a query a quarter of that, and 1 GiB at
   most; what monitoring asks an eighth of a query's.  Any thread. */
void http_set_memory_limit(struct http *http, uint64_t bytes);

/* Stops serving; answers under way are given up.  Returns 0, or -ETIMEDOUT when a query still runs
   after some seconds: then nothing that was lent to HTTP may be closed, and all that is left to do
   is to exit.  Loop only. */
int http_stop(struct http *http);

#endif
