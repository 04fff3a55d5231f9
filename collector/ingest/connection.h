/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's socket: TLS, buffers and deadlines around a session. A connection is freed only by its
   own events (which call on_closed first) or by connection_free, never by the functions below. Loop
   only, all of it. */
#ifndef INGEST_CONNECTION_H
#define INGEST_CONNECTION_H

#include "session.h"

#include <openssl/ssl.h>

struct connection;
struct dispatch;
struct event_base;
struct revocations;

/* State shared by all connections. */
struct connection_host {
  struct event_base *loop;
  SSL_CTX *tls;
  struct dispatch *dispatch; /* NULL: reading has stopped */
  struct figures *figures;
  const char *page_url;
  uint64_t trust;            /* identifies the CA certificates that boards should have */
  uint32_t return_within_ms; /* reconnect spread sent to boards */
  struct shedding shedding;
  struct quotas *quotas;
  struct trusted_time *time;
  const struct revocations *revocations; /* replaced from time to time */
  size_t large_bytes;                    /* of long frames currently being received */
  unsigned stalled_count;                /* connections that wait for room */
  void (*on_identified)(void *context, struct connection *connection); /* TLS is up */
  void (*on_closed)(void *context, struct connection *connection);     /* before it is freed */
  void (*on_shedding)(void *context); /* shedding.shed has changed */
  /* A peer was denied access. WHO is a board's name or an address. Denials found by a worker are
     reported by that worker. */
  void (*on_denied)(void *context, const char *who, const char *why);
  void *context;
};

/* Starts TLS on FD, which it takes over. ID is the session's number. Returns NULL if memory is out
   (FD is closed then). */
struct connection *connection_new_take(struct connection_host *host, int fd, uint64_t id);

/* Closes and frees at once, without a message to the peer and without on_closed. */
void connection_free(struct connection *connection);

uint64_t connection_id(const struct connection *connection);

/* Returns the board's name; "" if unauthenticated. */
const char *connection_board(const struct connection *connection);

/* Returns its certificate's data; all-zero if unauthenticated. */
const struct shown_certificate *connection_certificate(const struct connection *connection);

/* Processes a finished job of this connection. */
void connection_finish(struct connection *connection, struct job *job);

/* Continues reading if the connection was stalled. */
void connection_resume(struct connection *connection);

/* Updates the load shedding state from the queue's figures. */
void connection_look_at_load(struct connection_host *host);

/* Closes at once if its handshake is still under way, to make room for other peers. */
void connection_evict_half_open(struct connection *connection);

/* Rejects the peer and starts closing. Returns false if it was closing already. */
bool connection_refuse(struct connection *connection, enum refusal refusal, const char *why);

/* Returns whether all its output has left this process. */
bool connection_is_flushed(const struct connection *connection);

#endif
