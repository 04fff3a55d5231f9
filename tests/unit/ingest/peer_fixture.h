/* SPDX-License-Identifier: Apache-2.0 */
/* A board, or a peer that claims to be one: blocking TLS with a timeout. */
#ifndef TESTS_PEER_FIXTURE_H
#define TESTS_PEER_FIXTURE_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/tls.h"
#include "proto/messages.h"

#include <openssl/ssl.h>

enum { PEER_SECONDS = 20, PEER_INPUT_BYTES = 256 << 10 };

struct peer {
  int fd;
  SSL_CTX *context;
  SSL *ssl;
  struct arena arena; /* of the received message */
  uint8_t input[PEER_INPUT_BYTES];
  size_t len;
};

/* A TCP connection to PORT of loopback with a timeout for each call. */
int peer_socket(unsigned port);

/* Connects with CONTEXT, which it takes over. Returns the result of SSL_connect. */
int peer_connect(struct peer *peer, SSL_CTX *context, unsigned port);
void peer_close(struct peer *peer);

/* Returns whether all of BYTES went out. */
bool peer_send(struct peer *peer, struct span bytes);
bool peer_say(struct peer *peer, const struct message *message);

/* Waits for the next frame.  Returns false when the connection ended instead. */
bool peer_hear(struct peer *peer, struct message *ret);
/* Reads frames until one of TYPE. */
bool peer_await(struct peer *peer, enum frame_type type, struct message *ret);

#endif
