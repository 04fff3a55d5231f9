/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP API and the page. The loop thread parses requests and sends answers; other threads make
   the answers. */
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

struct http_parts { /* all borrowed; must outlive the server */
  struct event_base *loop;
  struct ca *ca;
  struct access *access;
  struct store *store;
  struct debug_store *debug;
  struct source_store *sources;
  struct symbolizer *symbolizer;
  struct quotas *quotas; /* or NULL: boards have no quotas */
  const char *address;   /* "127.0.0.1:7480"; any other than loopback serves TLS and needs tokens */
  const char *public_name; /* replaces the address in links; or NULL */
  /* Appends other components' counters to /metrics; may be NULL. */
  void (*metrics)(void *context, void *buf);
  void *metrics_context;
  /* Returns when BOARD was revoked, in seconds since 1970, or 0 if it is not revoked. Any thread;
     does not block. If NULL, no board is revoked. */
  int64_t (*revoked_s)(void *context, const char *board);
  void *revoked_context;
  const struct option_list *watched; /* functions whose shares are on /metrics, or NULL... */
  const char *watched_by;            /* ...and the label that distinguishes their releases */
};

/* Starts serving.  Returns 0 or -errno, with one line in ERROR. */
int http_start(const struct http_parts *parts, struct http **ret, char *error, size_t error_len);

/* Returns the server's URL: "http://127.0.0.1:7480/". */
const char *http_url(const struct http *http);

/* Returns the URL of the page. For a collector built without the page, that is the root of the API,
   "http://127.0.0.1:7480/api/v1/". */
const char *http_page_url(const struct http *http);

/* Sets the process's memory limit to BYTES (0: unknown). A query may use a quarter of that, and at
   most 1 GiB; a monitoring request an eighth of a query's limit. Any thread. */
void http_set_memory_limit(struct http *http, uint64_t bytes);

/* Stops the server and abandons pending answers. Returns 0, or -ETIMEDOUT if a query still runs
   after some seconds: then no object lent to HTTP may be closed, and the caller can only exit. Loop
   only. */
int http_stop(struct http *http);

#endif
