/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's connection: bytes in, heads and pieces of bodies out, answers back.  Loop only. */
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

/* What a connection tells its owner.  Each of the first three is answered, now or later, by exactly
   one call of client_answer or client_read_body. */
struct client_owner {
  /* A request; HEAD is valid during the call. */
  void (*on_head)(void *context, struct client *client, const struct http_head *head);
  /* A piece of the body; to be removed from BYTES before the call returns. */
  void (*on_piece)(void *context, struct client *client, struct evbuffer *bytes, size_t len);
  /* Bytes that are no request; the answer to it is the last. */
  void (*on_fault)(void *context, struct client *client, const struct head_fault *fault);
  /* No answer came in time; to be answered at once. */
  void (*on_late)(void *context, struct client *client);
  /* The connection is gone. */
  void (*on_closed)(void *context, struct client *client);
  void *context;
};

/* Takes BEV (a connected socket, or one whose TLS handshake has begun when IS_TLS).  Returns NULL
   when memory is out; BEV is then still the caller's. */
struct client *client_new(struct bufferevent *bev, bool is_tls, const struct sockaddr *peer,
                          const struct client_owner *owner);

/* Ends CLIENT at once; on_closed is called. */
void client_free(struct client *client);

/* Sends ANSWER, whose body is taken out of it; to HEAD without the body. */
void client_answer(struct client *client, struct answer *answer, bool is_head);

/* Goes on reading the body of the request: the next on_piece follows when a piece is there. */
void client_read_body(struct client *client);

/* Returns whether the connection waits for a request and has received nothing of it. */
bool client_is_idle(const struct client *client);

/* Returns whether an answer is on its way to it. */
bool client_is_answered(const struct client *client);

/* For how long it has been waiting for its peer at NOW_NS (monotonic): for a head, a piece of a
   body, or that an answer is read. */
uint64_t client_waiting_ns(const struct client *client, uint64_t now_ns);

/* Returns how many bytes of answers in memory the peer has not taken yet. */
size_t client_unsent_bytes(const struct client *client);

/* The owner's own pointer, NULL at first. */
void client_set_request(struct client *client, void *request);
void *client_request(const struct client *client);

/* Returns the peer's address as text, and as it is. */
const char *client_peer_text(const struct client *client);
const struct sockaddr *client_peer(const struct client *client);

/* Neighbours in the owner's list. */
struct client_links {
  struct client *next, *previous;
};
struct client_links *client_links(struct client *client);

#endif
