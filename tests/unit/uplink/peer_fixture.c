/* SPDX-License-Identifier: Apache-2.0 */
#include "peer_fixture.h"

#include "proto/limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool peer_wait(const struct peer *peer, int fd, int timeout_ms) {
  for (int waited = 0; waited < timeout_ms && !peer->is_stopping; waited += 20) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (poll(&poll_fd, 1, 20) > 0) return true;
  }
  return false;
}

bool peer_read_within(struct peer *peer, struct message *ret, int timeout_ms) {
  struct frame frame;
  char why[128];
  for (;;) {
    long taken = frame_decode(buf_span(&peer->input), &frame);
    if (taken > 0) {
      arena_fini(&peer->arena);
      arena_init(&peer->arena, 8 << 20);
      int rc = message_decode(&frame, &peer->arena, ret, why, sizeof why);
      memmove(peer->input.data, peer->input.data + taken, peer->input.len - (size_t)taken);
      peer->input.len -= (size_t)taken;
      return rc == 0;
    }
    if (taken != -EAGAIN) return false;
    if (SSL_pending(peer->ssl) == 0 && !peer_wait(peer, SSL_get_fd(peer->ssl), timeout_ms))
      return false;
    uint8_t *at = buf_reserve(&peer->input, 16384);
    int got = SSL_read(peer->ssl, at, 16384);
    if (got <= 0) return false;
    peer->input.len += (size_t)got;
  }
}

bool peer_read(struct peer *peer, struct message *ret) {
  return peer_read_within(peer, ret, 10000);
}

void peer_send(struct peer *peer, const struct message *message) {
  struct buf out = {0};
  message_encode(message, &out);
  SSL_write(peer->ssl, out.data, (int)out.len);
  buf_fini(&out);
}

bool peer_greet(struct peer *peer) {
  struct message message;
  if (!peer_read(peer, &message) || message.type != FRAME_HELLO) return false;
  message = (struct message){.type = FRAME_WELCOME};
  message.welcome = (struct welcome){
      .version = LIMIT_PROTOCOL_VERSION, .walltime_ns = 42, .page_url = "http://page/"};
  peer_send(peer, &message);
  return true;
}

void peer_ack(struct peer *peer, const struct envelope *batch) {
  struct message message = {.type = FRAME_ACK};
  message.ack = (struct ack){batch->run, batch->seq};
  peer_send(peer, &message);
}

void peer_note(struct peer *peer, const struct envelope *batch) {
  for (unsigned i = 0; i < peer->batches; i++)
    if (peer->seqs[i] == batch->seq) peer->duplicates++;
  peer->seqs[peer->batches] = batch->seq;
  peer->batches++;
}

static void peer_serve(struct peer *peer, int fd) {
  struct timeval patience = {.tv_sec = 10};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  peer->ssl = SSL_new(peer->context);
  SSL_set_fd(peer->ssl, fd);
  unsigned connection = peer->connections++;
  if (SSL_accept(peer->ssl) == 1) {
    peer->handshakes++;
    if (peer->script != NULL) peer->script(peer, connection);
    SSL_shutdown(peer->ssl);
  }
  SSL_free(peer->ssl);
  buf_clear(&peer->input);
  close(fd);
}

static void *peer_run(void *context) {
  struct peer *peer = context;
  while (!peer->is_stopping) {
    if (!peer_wait(peer, peer->listener, 1000)) continue;
    int fd = accept(peer->listener, NULL, NULL);
    if (fd >= 0) peer_serve(peer, fd);
  }
  return NULL;
}

int peer_start(struct peer *peer, const struct fleet *fleet, const char *name,
               peer_script *script) {
  char certificate[FLEET_PATH_BYTES], key[FLEET_PATH_BYTES], ca[FLEET_PATH_BYTES], file[64];
  char error[256] = "";
  memset(peer, 0, sizeof *peer);
  snprintf(file, sizeof file, "%s.pem", name);
  fleet_path(fleet, file, certificate);
  snprintf(file, sizeof file, "%s.key", name);
  fleet_path(fleet, file, key);
  fleet_path(fleet, "ca.pem", ca);
  struct tls_paths paths = {.certificate = certificate, .key = key, .ca = ca};
  peer->context = tls_server_context(&paths, error, sizeof error);
  if (peer->context == NULL) {
    fprintf(stderr, "%s\n", error);
    return -1;
  }
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t len = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer->listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(peer->listener, (struct sockaddr *)&address, len) < 0 || listen(peer->listener, 8) < 0)
    return -1;
  getsockname(peer->listener, (struct sockaddr *)&address, &len);
  peer->port = ntohs(address.sin_port);
  peer->script = script;
  return pthread_create(&peer->thread, NULL, peer_run, peer);
}

void peer_stop(struct peer *peer) {
  peer->is_stopping = true;
  pthread_join(peer->thread, NULL);
  close(peer->listener);
  SSL_CTX_free(peer->context);
  arena_fini(&peer->arena);
  buf_fini(&peer->input);
  buf_fini(&peer->file);
}

void peer_ack_all(struct peer *peer, unsigned connection) {
  struct message message;
  (void)connection;
  if (!peer_greet(peer)) return;
  while (peer_read(peer, &message)) {
    if (message.type != FRAME_BATCH) continue;
    peer_note(peer, &message.batch);
    peer_ack(peer, &message.batch);
  }
}
