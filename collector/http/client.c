/* SPDX-License-Identifier: Apache-2.0 */
/* Why not evhttp: measured with libevent 2.1.12, it drops the rest of an answer if the peer has
   half-closed (2.6 of 4 MB arrived). Under a filtering bufferevent, which a guard before its parser
   would need, an answer with `Connection: close` never arrives at all. It buffers a whole body
   before the token can be checked, and accepts framing that must be rejected. Since head_guard
   parses the head, the rest of HTTP is this state machine:

     HANDSHAKE -> IDLE -> HEAD -> WORKING <-> BODY
                   ^                 |
                   +--- SENDING <----+      SENDING -> LINGER -> CLOSED
     HANDSHAKE -> PLAIN -> CLOSED           a request that is no TLS

   While an answer is made or sent nothing is read. So if a peer sends faster than it reads, its
   data stays in TCP buffers, not in this process. While an answer is made, the socket is checked
   every LOOK_MS: if the peer is gone, the connection is CLOSED and work for it stops. A peer that
   has shut down its sending side may be gone or may still read. It is sent a 100 Continue, which a
   reading peer ignores and which the system of a peer that is gone answers with a reset. HTTP/1.0
   has no 100 Continue: there the answer is completed.

   After the last answer the sending side is shut down, then input is discarded for a moment
   (LINGER). Closing with unread bytes would make the kernel reset the connection, and the peer
   would lose the answer.

   Each state has a deadline. Only set_state arms the timer. The state machine frees a
   connection only in the deadline's callback, so that no callback frees an object that its caller
   still uses. */
#include "client.h"

#include "answer.h"
#include "common/clock.h"
#include "head_guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum state { HANDSHAKE, IDLE, HEAD, WORKING, BODY, SENDING, LINGER, PLAIN, CLOSED };

static const struct {
  bool is_reading;
  unsigned seconds;
} states[] = {
    [HANDSHAKE] = {true, 10},
    [IDLE] = {true, 75},      /* browsers keep a connection for about a minute */
    [HEAD] = {true, 10},      /* from its first byte to its last */
    [WORKING] = {false, 120}, /* a query that needs longer selects too much */
    [BODY] = {true, 30},      /* for one piece */
    [SENDING] = {false, 30},  /* longer for a large answer, see below */
    [LINGER] = {true, 2},
    [PLAIN] = {false, 2}, /* answered without TLS; nothing more is read */
    [CLOSED] = {false, 0},
};

enum {
  LOOK_MS = 100, /* detects peers that are gone; 512 checks take less than 1 ms */
  SENDING_BYTES_PER_SECOND = 32 << 10, /* slower readers lose the connection */
  LINGER_BYTES_MAX = 8 << 20,          /* discarded bytes of a refused upload */
  PLAIN_SEND = MSG_DONTWAIT | MSG_NOSIGNAL,
  SINGLE_WRITE_BYTES = 256 << 10, /* libevent's 16 KiB halve the speed of long answers */
};

struct client {
  struct client_links links;
  const struct client_owner *owner;
  struct bufferevent *bev;
  struct event *deadline;
  enum state state;
  uint64_t since_ns; /* when that state began */
  unsigned minor;    /* of the current request: HTTP/1.minor */
  uint64_t body_left;
  size_t lingered_bytes;
  uint64_t file_bytes;   /* bytes of the current answer from a file */
  bool is_persistent;    /* another request may follow the current one */
  bool is_peer_done;     /* the peer has shut down its sending side */
  bool expects_continue; /* and 100 Continue is not sent yet */
  void *request;
  struct sockaddr_storage peer;
  char peer_text[CLIENT_PEER_TEXT_BYTES];
};

static const struct timeval look_again = {.tv_usec = LOOK_MS * 1000};
static const char continue_line[] = "HTTP/1.1 100 Continue\r\n\r\n";

static struct evbuffer *input_of(struct client *client) {
  return bufferevent_get_input(client->bev);
}

static void set_state(struct client *client, enum state state) {
  client->state = state;
  client->since_ns = clock_monotonic_ns();
  struct timeval wait = {.tv_sec = states[state].seconds};
  if (state == SENDING)
    wait.tv_sec += (time_t)(evbuffer_get_length(bufferevent_get_output(client->bev)) /
                            SENDING_BYTES_PER_SECOND);
  if (state == WORKING) wait = look_again;
  event_add(client->deadline, &wait);
  if (state == CLOSED) {
    bufferevent_setcb(client->bev, NULL, NULL, NULL, NULL);
    bufferevent_disable(client->bev, EV_READ | EV_WRITE);
  } else if (!states[state].is_reading) {
    bufferevent_disable(client->bev, EV_READ);
  } else {
    bufferevent_enable(client->bev, EV_READ);
    /* Bytes that arrived with the last request cause no event of their own. */
    if (evbuffer_get_length(input_of(client)) > 0)
      bufferevent_trigger(client->bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS);
  }
}

static void read_head(struct client *client) {
  struct evbuffer *input = input_of(client);
  size_t len = evbuffer_get_length(input);
  if (len > HEAD_BYTES_MAX + 1) len = HEAD_BYTES_MAX + 1;
  if (len == 0) return;
  const uint8_t *bytes = evbuffer_pullup(input, (ev_ssize_t)len);
  struct http_head head;
  struct head_fault fault;
  int head_len = bytes ? head_guard_parse(span_of(bytes, len), &head, &fault) : -ENOMEM;
  if (head_len == -EAGAIN) {
    if (client->state == IDLE) set_state(client, HEAD);
    return;
  }
  if (head_len == -ENOMEM) {
    set_state(client, CLOSED);
    return;
  }
  client->is_persistent = false;
  client->minor = 0;
  set_state(client, WORKING);
  if (head_len < 0) {
    client->owner->on_fault(client->owner->context, client, &fault);
    return;
  }
  /* After a body, or if the sender may believe to have sent one, the rest of the stream is not
     trusted. */
  bool is_read = head.content_length == 0 && (span_is_equal(head.method, span_of_string("GET")) ||
                                              span_is_equal(head.method, span_of_string("HEAD")));
  client->is_persistent = head.is_persistent && is_read;
  client->minor = head.minor;
  client->body_left = head.content_length;
  client->expects_continue = head.expects_continue && head.minor == 1;
  client->owner->on_head(client->owner->context, client, &head);
  evbuffer_drain(input, (size_t)head_len);
}

static void read_piece(struct client *client) {
  size_t len = CLIENT_PIECE_BYTES;
  if (client->body_left < len) len = (size_t)client->body_left;
  if (evbuffer_get_length(input_of(client)) < len) return;
  client->body_left -= len;
  set_state(client, WORKING);
  client->owner->on_piece(client->owner->context, client, input_of(client), len);
}

static void throw_away(struct client *client) {
  size_t len = evbuffer_get_length(input_of(client));
  evbuffer_drain(input_of(client), len);
  client->lingered_bytes += len;
  if (client->lingered_bytes > LINGER_BYTES_MAX) set_state(client, CLOSED);
}

static void end_sending(struct client *client) {
  if (client->is_persistent && !client->is_peer_done) {
    set_state(client, IDLE);
    return;
  }
  if (client->is_peer_done) {
    set_state(client, CLOSED);
    return;
  }
  SSL *ssl = bufferevent_openssl_get_ssl(client->bev);
  if (ssl) SSL_shutdown(ssl);
  shutdown(bufferevent_getfd(client->bev), SHUT_WR);
  set_state(client, LINGER);
}

static void on_read(struct bufferevent *bev, void *arg) {
  (void)bev;
  struct client *client = arg;
  switch (client->state) {
  case IDLE:
  case HEAD:
    read_head(client);
    break;
  case BODY:
    read_piece(client);
    break;
  case LINGER:
    throw_away(client);
    break;
  default: /* bytes wait in the buffer */
    break;
  }
}

static void on_write(struct bufferevent *bev, void *arg) {
  struct client *client = arg;
  bool is_sent = evbuffer_get_length(bufferevent_get_output(bev)) == 0;
  if (client->state == SENDING && is_sent) end_sending(client);
}

/* Returns whether the peer sent plain HTTP to the TLS port. TLS has read five bytes of the request
   and sends nothing. */
static bool has_no_tls(struct bufferevent *bev) {
  unsigned long error = bufferevent_get_openssl_error(bev);
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST;
}

/* Answers without TLS, directly on the socket. Discards the received part of the request. The
   socket stays open for a moment, because closing it with unread bytes would destroy the answer. */
static void answer_plainly(struct client *client) {
  static const char text[] = "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                             "\"detail\":\"this port speaks HTTPS and the request is plain HTTP: "
                             "write https:// (clients trust ca/root.pem of the collector's --data)"
                             "\"}\n";
  char head[256], scratch[HEAD_BYTES_MAX];
  int fd = bufferevent_getfd(client->bev);
  int head_len = snprintf(head, sizeof head,
                          "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                          sizeof text - 1);
  bool is_there = recv(fd, scratch, sizeof scratch, MSG_DONTWAIT) >= 0 || errno == EAGAIN;
  if (is_there && send(fd, head, (size_t)head_len, PLAIN_SEND | MSG_MORE) == head_len)
    is_there = send(fd, text, sizeof text - 1, PLAIN_SEND) > 0 && shutdown(fd, SHUT_WR) == 0;
  set_state(client, is_there ? PLAIN : CLOSED);
}

static void on_event(struct bufferevent *bev, short what, void *arg) {
  struct client *client = arg;
  bool is_answering = client->state == WORKING || client->state == SENDING;
  if (what & BEV_EVENT_CONNECTED)
    set_state(client, IDLE);
  else if ((what & BEV_EVENT_EOF) && is_answering)
    client->is_peer_done = true;
  else if (client->state == HANDSHAKE && has_no_tls(bev))
    answer_plainly(client);
  else
    set_state(client, CLOSED);
}

/* While an answer is made: checks whether its time is over or its peer is gone. */
static void look(struct client *client) {
  struct pollfd peer = {.fd = bufferevent_getfd(client->bev), .events = POLLRDHUP};
  poll(&peer, 1, 0);
  if (clock_monotonic_ns() - client->since_ns >= states[WORKING].seconds * NS_PER_SECOND) {
    client->is_persistent = false;
    client->owner->on_late(client->owner->context, client);
  } else if (peer.revents & (POLLERR | POLLHUP)) {
    set_state(client, CLOSED);
  } else {
    bool ends_now = (peer.revents & POLLRDHUP) != 0 && !client->is_peer_done;
    if (ends_now) client->is_peer_done = true;
    if (ends_now && client->minor >= 1)
      bufferevent_write(client->bev, continue_line, sizeof continue_line - 1);
    event_add(client->deadline, &look_again);
  }
}

static void on_deadline(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what;
  static const struct head_fault slow = {408, "the request did not arrive in time"};
  struct client *client = arg;
  switch (client->state) {
  case CLOSED:
    client_free(client);
    break;
  case WORKING:
    look(client);
    break;
  case HEAD:
  case BODY:
    client->is_persistent = false;
    set_state(client, WORKING);
    client->owner->on_fault(client->owner->context, client, &slow);
    break;
  default: /* no request to answer, or the peer no longer reads */
    set_state(client, CLOSED);
    break;
  }
}

static void print_peer(const struct sockaddr *peer, char *text, size_t text_len) {
  char address[INET6_ADDRSTRLEN] = "?";
  if (peer->sa_family == AF_INET) {
    const struct sockaddr_in *in = (const void *)peer;
    inet_ntop(AF_INET, &in->sin_addr, address, sizeof address);
    snprintf(text, text_len, "%s:%u", address, ntohs(in->sin_port));
  } else {
    const struct sockaddr_in6 *in6 = (const void *)peer;
    inet_ntop(AF_INET6, &in6->sin6_addr, address, sizeof address);
    snprintf(text, text_len, "[%s]:%u", address, ntohs(in6->sin6_port));
  }
}

struct client *client_new(struct bufferevent *bev, bool is_tls, const struct sockaddr *peer,
                          const struct client_owner *owner) {
  struct client *client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->deadline = evtimer_new(bufferevent_get_base(bev), on_deadline, client);
  if (client->deadline == NULL) {
    free(client);
    return NULL;
  }
  client->bev = bev;
  client->owner = owner;
  size_t peer_len =
      peer->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  memcpy(&client->peer, peer, peer_len);
  print_peer(client_peer(client), client->peer_text, sizeof client->peer_text);
  bufferevent_setcb(bev, on_read, on_write, on_event, client);
  bufferevent_setwatermark(bev, EV_READ, 0, CLIENT_PIECE_BYTES);
  bufferevent_set_max_single_write(bev, SINGLE_WRITE_BYTES);
  bufferevent_enable(bev, EV_WRITE);
  set_state(client, is_tls ? HANDSHAKE : IDLE);
  return client;
}

void client_free(struct client *client) {
  if (client == NULL) return;
  client->owner->on_closed(client->owner->context, client);
  event_free(client->deadline);
  bufferevent_free(client->bev);
  free(client);
}

/* Without TLS the kernel copies from file to socket. With TLS, pages are mapped as they are
   sent. */
static bool add_file(struct client *client, struct answer_file *file) {
  struct evbuffer *output = bufferevent_get_output(client->bev);
  if (evbuffer_add_file(output, file->fd, (ev_off_t)file->offset, (ev_off_t)file->bytes) != 0)
    return false;
  client->file_bytes = file->bytes;
  file->is_given = false; /* closed by the output buffer */
  return true;
}

static bool add_body(struct client *client, struct answer *answer) {
  if (answer->file.is_given && answer->file.bytes > 0) return add_file(client, &answer->file);
  /* Copied, not lent: 2.1.12's evbuffer_add_reference can leave a dangling pointer. */
  size_t len = answer->body.failed ? 0 : answer->body.len;
  return evbuffer_add(bufferevent_get_output(client->bev), answer->body.data, len) == 0;
}

static uint64_t body_bytes(const struct answer *answer, bool is_head) {
  if (answer->file.is_given) return answer->file.bytes;
  size_t len = answer->body.failed ? 0 : answer->body.len;
  return is_head && len == 0 ? answer->length : len;
}

void client_answer(struct client *client, struct answer *answer, bool is_head) {
  struct buf head = {0};
  /* After a malformed request the start of the next one is uncertain. */
  if (client->is_peer_done || answer->status == 400) client->is_persistent = false;
  answer_print_head(answer, body_bytes(answer, is_head), client->is_persistent, &head);
  bool is_bodiless = is_head || answer->status == 304;
  client->file_bytes = 0;
  bool is_failed = head.failed ||
                   evbuffer_add(bufferevent_get_output(client->bev), head.data, head.len) != 0 ||
                   (!is_bodiless && !add_body(client, answer));
  buf_fini(&head);
  answer_fini(answer);
  set_state(client, is_failed ? CLOSED : SENDING);
}

void client_read_body(struct client *client) {
  if (client->expects_continue)
    bufferevent_write(client->bev, continue_line, sizeof continue_line - 1);
  client->expects_continue = false;
  set_state(client, BODY);
}

bool client_is_idle(const struct client *client) {
  return client->state == IDLE;
}

bool client_is_answered(const struct client *client) {
  return client->state == SENDING;
}

uint64_t client_waiting_ns(const struct client *client, uint64_t now_ns) {
  return client->state == WORKING || client->state == CLOSED ? 0 : now_ns - client->since_ns;
}

size_t client_unsent_bytes(const struct client *client) {
  size_t len = evbuffer_get_length(bufferevent_get_output(client->bev));
  return len > client->file_bytes ? len - (size_t)client->file_bytes
                                  : 0; /* the file is sent last */
}

void client_set_request(struct client *client, void *request) {
  client->request = request;
}

void *client_request(const struct client *client) {
  return client->request;
}

const char *client_peer_text(const struct client *client) {
  return client->peer_text;
}

const struct sockaddr *client_peer(const struct client *client) {
  return (const struct sockaddr *)&client->peer;
}

struct client_links *client_links(struct client *client) {
  return &client->links;
}
