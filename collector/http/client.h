/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's connection: reads heads and pieces of bodies, and sends answers. Loop only. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "common/span.h"

#include <sys/socket.h>

struct answer;
struct bufferevent;
struct client;
struct evbuffer;
struct head_fault;
struct http_head;

enum { CLIENT_PIECE_BYTES = 256 << 10, CLIENT_PEER_TEXT_BYTES = 64 };

/* Callbacks to the owner. Each of the first three calls is followed, at once or later, by exactly
   one call of client_answer or client_read_body. */
struct client_owner {
  /* A request has arrived. HEAD is valid during the call. */
  void (*on_head)(void *context, struct client *client, const struct http_head *head);
  /* A piece of the body has arrived. The callee removes it from BYTES before it returns. */
  void (*on_piece)(void *context, struct client *client, struct evbuffer *bytes, size_t len);
  /* The bytes are not a valid request. The connection ends after the answer. */
  void (*on_fault)(void *context, struct client *client, const struct head_fault *fault);
  /* The answer is overdue. The callee answers at once. */
  void (*on_late)(void *context, struct client *client);
  /* The connection is closed. */
  void (*on_closed)(void *context, struct client *client);
  void *context;
};

/* Takes BEV (a connected socket; if IS_TLS, its TLS handshake has begun). Returns NULL if out of
   memory; then BEV stays the caller's. */
struct client *client_new(struct bufferevent *bev, bool is_tls, const struct sockaddr *peer,
                          const struct client_owner *owner);

/* Closes CLIENT at once and calls on_closed. */
void client_free(struct client *client);

/* Sends ANSWER and takes its body. With IS_HEAD the body is not sent. */
void client_answer(struct client *client, struct answer *answer, bool is_head);

/* Continues reading the request's body: on_piece is called when a piece has arrived. */
void client_read_body(struct client *client);

/* Returns whether the connection waits for a request and has received nothing of it. */
bool client_is_idle(const struct client *client);

/* Returns whether an answer is being sent. */
bool client_is_answered(const struct client *client);

/* Returns how long the connection has been waiting for its peer at NOW_NS (monotonic): for a head,
   for a piece of a body, or until an answer is read. 0 if it does not wait. */
uint64_t client_waiting_ns(const struct client *client, uint64_t now_ns);

/* Returns the number of bytes of answers in memory that are not sent yet. */
size_t client_unsent_bytes(const struct client *client);

/* The owner's pointer, initially NULL. */
void client_set_request(struct client *client, void *request);
void *client_request(const struct client *client);

/* Return the peer's address, as text and in binary. */
const char *client_peer_text(const struct client *client);
const struct sockaddr *client_peer(const struct client *client);

/* Links of the owner's list. */
struct client_links {
  struct client *next, *previous;
};
struct client_links *client_links(struct client *client);

#endif
