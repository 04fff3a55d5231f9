/* SPDX-License-Identifier: Apache-2.0 */
/* A collector for tests: a thread that accepts connections one after the other on loopback, does
   TLS, and then follows the test's script with blocking reads and writes of frames. */
#ifndef TESTS_PEER_FIXTURE_H
#define TESTS_PEER_FIXTURE_H

#include "fleet_fixture.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/tls.h"
#include "proto/messages.h"

#include <pthread.h>
#include <stdatomic.h>

struct peer;
typedef void peer_script(struct peer *peer, unsigned connection);

struct peer {
  int listener;
  uint16_t port;
  SSL_CTX *context;
  SSL *ssl; /* of the connection being served */
  peer_script *script;
  pthread_t thread;
  atomic_bool is_stopping;
  atomic_uint connections, handshakes;
  struct buf input;
  struct arena arena;
  /* Results of scripts for the test; their meaning is up to the test. */
  atomic_uint batches, duplicates, step;
  uint64_t seqs[512];
  struct buf file;
};

/* Starts a collector that shows the certificate NAME and follows SCRIPT.  Returns 0, or another
   number with the reason on stderr. */
int peer_start(struct peer *peer, const struct fleet *fleet, const char *name, peer_script *script);
void peer_stop(struct peer *peer);

/* For scripts. Reads one message; returns false if the connection ended or the timeout expired. */
bool peer_read_within(struct peer *peer, struct message *ret, int timeout_ms);
bool peer_read(struct peer *peer, struct message *ret); /* within ten seconds */
void peer_send(struct peer *peer, const struct message *message);

/* Receives the hello and welcomes the board. Returns false if the message was no hello. */
bool peer_greet(struct peer *peer);
void peer_ack(struct peer *peer, const struct envelope *batch);
/* Notes a batch as received. */
void peer_note(struct peer *peer, const struct envelope *batch);

/* The good collector: greets, notes and acks all. */
void peer_ack_all(struct peer *peer, unsigned connection);

#endif
