/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's socket: TLS, buffers and deadlines around a session.  A connection is freed only by
   its own events (on_closed is told first) or by connection_free, never by the calls below.  Loop
   only, all of it. */
#ifndef INGEST_CONNECTION_H
#define INGEST_CONNECTION_H

#include "session.h"

#include <openssl/ssl.h>

struct connection;
struct dispatch;
struct event_base;
struct revocations;

/* What all connections share. */
struct connection_host {
  struct event_base *loop;
  SSL_CTX *tls;
  struct dispatch *dispatch; /* NULL: nothing is read any more */
  struct figures *figures;
  const char *page_url;
  uint64_t trust;            /* of the CA certificates that boards are to have */
  uint32_t return_within_ms; /* what boards are told of coming back */
  struct shedding shedding;
  struct quotas *quotas;
  struct trusted_time *time;
  const struct revocations *revocations; /* replaced now and then */
  size_t large_bytes;                    /* of long frames that are being received now */
  unsigned stalled_count;                /* connections that wait for room */
  void (*on_identified)(void *context, struct connection *connection); /* TLS is up */
  void (*on_closed)(void *context, struct connection *connection);     /* it is freed after this */
  void (*on_shedding)(void *context); /* shedding.shed has changed */
  /* Somebody was not let in, for a reason that says something about him; WHO is a board's name or
     an address.  What a worker judged is told of there. */
  void (*on_denied)(void *context, const char *who, const char *why);
  void *context;
};

/* Starts TLS on FD, which it takes over.  ID names its session.  Returns NULL when memory ran out
   (FD is closed then). */
struct connection *connection_new_take(struct connection_host *host, int fd, uint64_t id);

/* Closes and frees at once, without a word and without on_closed. */
void connection_free(struct connection *connection);

uint64_t connection_id(const struct connection *connection);

/* The board's name; "" before it is known and for strangers. */
const char *connection_board(const struct connection *connection);

/* What its certificate says; all zero before it is known and for strangers. */
const struct shown_certificate *connection_certificate(const struct connection *connection);

/* Takes the outcome of a job of this connection. */
void connection_finish(struct connection *connection, struct job *job);

/* Goes on when it had stopped reading for want of room. */
void connection_resume(struct connection *connection);

/* Looks at the queue, and whether batches can be taken. */
void connection_look_at_load(struct connection_host *host);

/* Closes at once when its handshake is still under way: others wait for its place. */
void connection_evict_half_open(struct connection *connection);

/* Sends the peer away.  Returns false when it was going already. */
bool connection_refuse(struct connection *connection, enum refusal refusal, const char *why);

/* Returns whether everything it had to say has left this process. */
bool connection_is_flushed(const struct connection *connection);

#endif
