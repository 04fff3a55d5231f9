/* SPDX-License-Identifier: Apache-2.0 */
/* The server as a whole: one listener, its connections, and four threads. The first answers
   queries. The second answers monitoring requests: a query may take two minutes, during which the
   fleet must not look dead. The third takes uploads: an upload syncs files and waits for the symbol
   worker, and must not delay queries. The fourth looks up tokens, so that wrong tokens take no
   query's place.

   There are limits on waiting queries and uploads, and on connections, in all and from one peer. A
   new connection replaces an idle one or, if none is idle, the one that has kept the collector
   waiting longest. So clients that send or read a byte a second cannot keep others out. */
#include "http.h"

#include "address.h"
#include "assets.h"
#include "client.h"
#include "gate.h"
#include "http_listener.h"
#include "metrics.h"
#include "proto/limits.h"
#include "reception.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define API_PATH "api/v1/"

enum {
  CONNECTIONS_MAX = 512,          /* or an eighth of the descriptors not reserved for files */
  CONNECTIONS_PER_PEER_MAX = 128, /* except from this machine */
  QUERIES_WAITING_MAX = 32,       /* and as many monitoring requests */
  QUERY_SHARE = 4, /* a query's part of the process's memory is 1/4: boards have priority */
  UPLOADS_WAITING_MAX = 16,
  LOOKUPS_WAITING_MAX = CONNECTIONS_MAX, /* one request per connection */
  /* Together 7 s. Before, ingest drains and flushes for 6 s; afterwards the logs have 2 s. This
     fits into the 20 s that the systemd unit allows for a stop. */
  STOP_QUERY_MS = 3000,
  STOP_UPLOAD_MS = 2000,
  STOP_LOOKUP_MS = 1000,
  STOP_MONITOR_MS = 1000,
};

struct http {
  struct service service;
  struct http_listener *listener;
  struct http_listener_owner listener_owner;
  struct client_owner client_owner;
  char page_url[ADDRESS_URL_BYTES + sizeof API_PATH];
};

static void on_closed(void *context, struct client *client) {
  struct service *service = context;
  reception_forsake(client);
  client_list_remove(&service->clients, client);
  metrics_disconnected(service->metrics);
}

/* Returns whether another connection from PEER is allowed. Closes one to make room if necessary. */
static bool has_place(struct service *service, const struct sockaddr *peer) {
  struct client_list *list = &service->clients;
  if (!gate_is_loopback_address(peer) &&
      client_list_count_peer(list, peer) >= CONNECTIONS_PER_PEER_MAX)
    return false;
  if (list->count < service->connections_max) return true;
  struct client *victim = client_list_find_idle(list);
  if (victim == NULL) victim = client_list_find_slow(list);
  client_free(victim);
  return victim != NULL;
}

static void on_accept(void *context, struct bufferevent *bev, bool is_tls,
                      const struct sockaddr *peer) {
  struct http *http = context;
  struct client *client = NULL;
  if (has_place(&http->service, peer)) client = client_new(bev, is_tls, peer, &http->client_owner);
  if (client == NULL) {
    metrics_refused(http->service.metrics);
    bufferevent_free(bev);
    return;
  }
  client_list_add(&http->service.clients, client);
  metrics_connected(http->service.metrics);
}

static unsigned find_connections_max(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return CONNECTIONS_MAX;
  rlim_t files =
      limit.rlim_cur > LIMIT_COLLECTOR_FILES ? limit.rlim_cur - LIMIT_COLLECTOR_FILES : 0;
  if (files / 8 >= CONNECTIONS_MAX) return CONNECTIONS_MAX;
  return files >= 8 ? (unsigned)(files / 8) : 1;
}

static int start(struct http *http, char *error, size_t error_len) {
  struct service *service = &http->service;
  service->connections_max = find_connections_max();
  struct event_base *loop = service->parts.loop;
  service->metrics = metrics_new();
  if (service->metrics == NULL) return -ENOMEM;
  http->client_owner = (struct client_owner){reception_head, reception_piece, reception_fault,
                                             reception_late, on_closed,       service};
  http->listener_owner = (struct http_listener_owner){loop, service->parts.ca,
                                                      service->parts.public_name, on_accept, http};
  int failed = jobs_start(loop, "query", QUERIES_WAITING_MAX, &service->queries);
  if (!failed) failed = jobs_start(loop, "monitor", QUERIES_WAITING_MAX, &service->monitor);
  if (!failed) failed = jobs_start_low(loop, "upload", UPLOADS_WAITING_MAX, &service->uploads);
  if (!failed) failed = jobs_start(loop, "lookup", LOOKUPS_WAITING_MAX, &service->lookups);
  if (failed) {
    snprintf(error, error_len, "http: threads cannot be started: %s", strerror(-failed));
    return failed;
  }
  failed = http_listener_open(service->parts.address, &http->listener_owner, &http->listener, error,
                              error_len);
  if (failed) return failed;
  service->is_loopback = http_listener_is_loopback(http->listener);
  bool has_page = assets_find("/app.js") != NULL; /* without the page, / only reports its absence */
  snprintf(http->page_url, sizeof http->page_url, "%s%s", http_listener_url(http->listener),
           has_page ? "" : API_PATH);
  return 0;
}

void http_set_memory_limit(struct http *http, uint64_t bytes) {
  uint64_t share = bytes / QUERY_SHARE + 1; /* never 0, which means unknown */
  size_t limit = bytes == 0 || share > QUERY_BYTES_MAX ? QUERY_BYTES_MAX : (size_t)share;
  atomic_store_explicit(&http->service.query_bytes, limit, memory_order_relaxed);
}

int http_start(const struct http_parts *parts, struct http **ret, char *error, size_t error_len) {
  struct http *http = calloc(1, sizeof *http);
  snprintf(error, error_len, "http: not enough memory");
  if (http == NULL) return -ENOMEM;
  http->service.parts = *parts;
  kept_metrics_init(&http->service.kept_metrics, &http->service);
  http_set_memory_limit(http, 0);
  int failed = start(http, error, error_len);
  if (failed) {
    http_stop(http);
    return failed;
  }
  *ret = http;
  return 0;
}

const char *http_url(const struct http *http) {
  return http_listener_url(http->listener);
}

const char *http_page_url(const struct http *http) {
  return http->page_url;
}

int http_stop(struct http *http) {
  if (http == NULL) return 0;
  http_listener_close(http->listener);
  http->listener = NULL;
  while (http->service.clients.first) client_free(http->service.clients.first);
  int failed = jobs_stop(http->service.queries, STOP_QUERY_MS);
  if (!failed) failed = jobs_stop(http->service.monitor, STOP_MONITOR_MS);
  if (!failed) failed = jobs_stop(http->service.uploads, STOP_UPLOAD_MS);
  if (!failed) failed = jobs_stop(http->service.lookups, STOP_LOOKUP_MS);
  if (failed) return failed;
  metrics_free(http->service.metrics);
  kept_metrics_fini(&http->service.kept_metrics);
  free(http);
  return 0;
}
