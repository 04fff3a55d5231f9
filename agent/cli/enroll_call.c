/* SPDX-License-Identifier: Apache-2.0 */
/* One deadline covers TCP, TLS, request and answer; libc limits the time of the name's resolution.
   The socket is non-blocking, and each step polls until the deadline.  A peer that sends single
   bytes cannot extend it. */
#include "enroll_call.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/tls.h"
#include "proto/limits.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEADLINE_NS (20 * NS_PER_SECOND)

enum { READ_BYTES = 4096 };

struct line { /* an open connection */
  struct enroll_call *call;
  uint64_t deadline_ns;
  int fd;
  SSL *ssl;
};

/* Waits until FD is ready for EVENTS.  Returns 0, -ETIMEDOUT or -errno. */
static int wait_for(const struct line *line, int fd, short events) {
  for (;;) {
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= line->deadline_ns) return -ETIMEDOUT;
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int ready = poll(&poll_fd, 1, (int)((line->deadline_ns - now_ns) / NS_PER_MS) + 1);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return -errno;
  }
}

static int connect_to(struct line *line, const struct addrinfo *address) {
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int error = 0;
  socklen_t len = sizeof error;
  int rc = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? -errno : 0;
  if (rc == -EINPROGRESS) rc = wait_for(line, fd, POLLOUT);
  if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0) rc = -errno;
  if (rc == 0) rc = -error;
  if (rc < 0) {
    close(fd);
    return rc;
  }
  line->fd = fd;
  return 0;
}

/* Connects to the first address that accepts. */
static int open_line(struct line *line) {
  const struct endpoint *address = line->call->address;
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
  hints.ai_flags = AI_NUMERICSERV;
  int failure = getaddrinfo(address->host, address->port, &hints, &found);
  if (failure != 0) {
    snprintf(line->call->why, ENROLL_WHY_BYTES, "the name does not resolve: %s",
             gai_strerror(failure));
    return -ENOENT;
  }
  int rc = -ENOENT;
  for (struct addrinfo *at = found; at != NULL && rc < 0; at = at->ai_next)
    rc = connect_to(line, at);
  freeaddrinfo(found);
  if (rc < 0) snprintf(line->call->why, ENROLL_WHY_BYTES, "%s", strerror(-rc));
  return rc;
}

/* Handles RESULT of an SSL call.  Returns 0 to call again, or -errno with the reason in
   call->why. */
static int continue_after(struct line *line, int result) {
  int error = errno, want = SSL_get_error(line->ssl, result);
  if (want == SSL_ERROR_WANT_READ || want == SSL_ERROR_WANT_WRITE) {
    int rc = wait_for(line, line->fd, want == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT);
    if (rc < 0) snprintf(line->call->why, ENROLL_WHY_BYTES, "%s", strerror(-rc));
    return rc;
  }
  errno = want == SSL_ERROR_ZERO_RETURN || error == EAGAIN ? 0 : error;
  tls_failure(line->ssl, line->call->why, ENROLL_WHY_BYTES);
  return -EPROTO;
}

static int shake_hands(struct line *line) {
  for (;;) {
    errno = 0;
    int result = SSL_connect(line->ssl);
    if (result == 1) return 0;
    int rc = continue_after(line, result);
    if (rc < 0) return rc;
  }
}

static int ask(struct line *line) {
  struct buf out = {0};
  int rc = message_encode(line->call->question, &out);
  if (rc < 0) snprintf(line->call->why, ENROLL_WHY_BYTES, "%s", strerror(-rc));
  for (size_t done = 0; rc == 0 && done < out.len;) {
    size_t put;
    errno = 0;
    int result = SSL_write_ex(line->ssl, out.data + done, out.len - done, &put);
    if (result == 1)
      done += put;
    else
      rc = continue_after(line, result);
  }
  buf_fini(&out);
  return rc;
}

/* Reads until STREAM holds a frame.  Returns 0 or -errno. */
static int read_frame(struct line *line, struct buf *stream, struct frame *ret) {
  for (;;) {
    long taken = frame_decode(buf_span(stream), ret);
    if (taken > 0) return 0;
    if (taken != -EAGAIN || stream->len > LIMIT_CONTROL_BYTES + FRAME_HEADER_BYTES) {
      snprintf(line->call->why, ENROLL_WHY_BYTES, "the answer is not fleetprof's");
      return -EBADMSG;
    }
    size_t got;
    uint8_t *at = buf_reserve(stream, READ_BYTES);
    if (at == NULL) {
      snprintf(line->call->why, ENROLL_WHY_BYTES, "out of memory");
      return -ENOMEM;
    }
    errno = 0;
    int result = SSL_read_ex(line->ssl, at, READ_BYTES, &got);
    if (result == 1) stream->len += got;
    int rc = result == 1 ? 0 : continue_after(line, result);
    if (rc < 0) return rc;
  }
}

static int hear(struct line *line, struct message *ret_answer) {
  struct buf stream = {0};
  struct frame frame;
  int rc = read_frame(line, &stream, &frame);
  if (rc == 0)
    rc = message_decode(&frame, line->call->arena, ret_answer, line->call->why, ENROLL_WHY_BYTES);
  buf_fini(&stream);
  return rc;
}

int enroll_call(struct enroll_call *call, struct message *ret_answer) {
  struct line line = {
      .call = call, .deadline_ns = clock_monotonic_ns() + DEADLINE_NS, .fd = -1, .ssl = NULL};
  int rc = open_line(&line);
  if (rc < 0) return rc;
  line.ssl = SSL_new(call->context);
  if (line.ssl == NULL || SSL_set_fd(line.ssl, line.fd) != 1) {
    snprintf(call->why, ENROLL_WHY_BYTES, "TLS: out of memory");
    rc = -ENOMEM;
  }
  if (rc == 0) rc = shake_hands(&line);
  if (rc == 0) rc = ask(&line);
  if (rc == 0) rc = hear(&line, ret_answer);
  if (rc == 0) SSL_shutdown(line.ssl);
  SSL_free(line.ssl);
  close(line.fd);
  return rc;
}
