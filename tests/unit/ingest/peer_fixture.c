/* SPDX-License-Identifier: Apache-2.0 */
#include "peer_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int peer_socket(unsigned port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval patience = {.tv_sec = PEER_SECONDS};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) abort();
  return fd;
}

int peer_connect(struct peer *peer, SSL_CTX *context, unsigned port) {
  memset(peer, 0, sizeof *peer);
  arena_init(&peer->arena, 16 << 20);
  if (context == NULL) abort();
  peer->context = context;
  peer->fd = peer_socket(port);
  peer->ssl = SSL_new(context);
  SSL_set_fd(peer->ssl, peer->fd);
  return SSL_connect(peer->ssl);
}

void peer_close(struct peer *peer) {
  arena_fini(&peer->arena);
  SSL_free(peer->ssl);
  SSL_CTX_free(peer->context);
  close(peer->fd);
  ERR_clear_error();
  peer->ssl = NULL;
}

bool peer_send(struct peer *peer, struct span bytes) {
  while (bytes.len > 0) {
    int sent = SSL_write(peer->ssl, bytes.data, (int)bytes.len);
    if (sent <= 0) return false;
    bytes.data += sent;
    bytes.len -= (size_t)sent;
  }
  return true;
}

bool peer_say(struct peer *peer, const struct message *message) {
  struct buf frame = {0};
  bool is_sent = message_encode(message, &frame) == 0 && peer_send(peer, buf_span(&frame));
  buf_fini(&frame);
  return is_sent;
}

bool peer_hear(struct peer *peer, struct message *ret) {
  struct frame frame;
  char why[256];
  long used;
  while ((used = frame_decode(span_of(peer->input, peer->len), &frame)) == -EAGAIN) {
    int got = SSL_read(peer->ssl, peer->input + peer->len, (int)(PEER_INPUT_BYTES - peer->len));
    if (got <= 0) return false;
    peer->len += (size_t)got;
  }
  if (used < 0 || message_decode(&frame, &peer->arena, ret, why, sizeof why) != 0) abort();
  peer->len -= (size_t)used;
  memmove(peer->input, peer->input + used, peer->len);
  return true;
}

bool peer_await(struct peer *peer, enum frame_type type, struct message *ret) {
  while (peer_hear(peer, ret))
    if (ret->type == type) return true;
  return false;
}
