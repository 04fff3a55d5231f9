/* SPDX-License-Identifier: Apache-2.0 */
/* A command line may block, but not for ever. The socket is non-blocking, and each step waits for
   it with poll until its deadline. Only the look-up of a name has libc's time limit instead.

   All addresses of a name are tried: `localhost` is ::1 first, while a collector may listen only on
   127.0.0.1.

   During sending the peer may already answer (to reject an upload) and stop reading. So a wait for
   room also ends when there is something to read. */
#include "line.h"

#include "common/clock.h"
#include "common/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NAME_BYTES = 254 /* the maximum in DNS */ };

static int fail(struct line *line, int error) {
  snprintf(line->why, sizeof line->why, "%s", strerror(-error));
  return error;
}

/* Waits until FD is ready for one of EVENTS. Returns the ready events, -ETIMEDOUT or -errno. */
static int wait_for(struct line *line, int fd, short events) {
  uint64_t end_ns = clock_monotonic_ns() + line->patience_ns;
  if (line->until_ns != 0 && line->until_ns < end_ns) end_ns = line->until_ns;
  for (;;) {
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= end_ns) return fail(line, -ETIMEDOUT);
    uint64_t left_ms = (end_ns - now_ns) / NS_PER_MS + 1;
    struct pollfd wish = {.fd = fd, .events = events};
    int ready = poll(&wish, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    if (ready > 0) return wish.revents;
    if (ready < 0 && errno != EINTR) return fail(line, -errno);
  }
}

static int connect_to(struct line *line, const struct addrinfo *address) {
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(line, -errno);
  int error = 0;
  socklen_t len = sizeof error;
  int rc = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? -errno : 0;
  if (rc == -EINPROGRESS) {
    rc = wait_for(line, fd, POLLOUT);
    if (rc > 0) rc = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? -errno : -error;
  }
  if (rc < 0) {
    close(fd);
    return fail(line, rc);
  }
  line->fd = fd;
  return 0;
}

static int connect_to_any(struct line *line, const struct endpoint *to) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
  hints.ai_flags = AI_NUMERICSERV;
  int failure = getaddrinfo(to->host, to->port, &hints, &found);
  if (failure != 0) {
    snprintf(line->why, sizeof line->why, "the name does not resolve: %s", gai_strerror(failure));
    return -ENOENT;
  }
  int rc = -ENOENT;
  for (const struct addrinfo *at = found; at != NULL && rc < 0; at = at->ai_next)
    rc = connect_to(line, at);
  freeaddrinfo(found);
  return rc;
}

static bool is_address(const char *host) {
  struct in6_addr address;
  return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Requires a certificate of HOST in the handshake. */
static bool expect_host(SSL *ssl, const char *host) {
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
  return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
}

/* Appends ONE to NAMES, a list as text, or "..." if there is no room. */
static bool add_name(char names[LINE_NAMES_BYTES], const char *one) {
  static const char more[] = ", ...";
  size_t len = strlen(names), room = LINE_NAMES_BYTES - sizeof more - len;
  if (strlen(one) + sizeof ", " > room) {
    snprintf(names + len, sizeof more, "%s", more);
    return false;
  }
  snprintf(names + len, room, "%s%s", len > 0 ? ", " : "", one);
  return true;
}

/* Writes the hosts and addresses in CERTIFICATE. */
static void list_names(const X509 *certificate, char ret[LINE_NAMES_BYTES]) {
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  bool has_room = true;
  ret[0] = '\0';
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && has_room; i++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    char text[NAME_BYTES] = "";
    int len = name->type == GEN_IPADD ? ASN1_STRING_length(name->d.iPAddress) : 0;
    if (name->type == GEN_DNS)
      snprintf(text, sizeof text, "%.*s", ASN1_STRING_length(name->d.dNSName),
               (const char *)ASN1_STRING_get0_data(name->d.dNSName));
    else if (len == sizeof(struct in_addr) || len == sizeof(struct in6_addr))
      inet_ntop(len == sizeof(struct in_addr) ? AF_INET : AF_INET6,
                ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text);
    if (text[0] != '\0') has_room = add_name(ret, text);
  }
  GENERAL_NAMES_free(names);
}

/* The certificate is gone after the handshake has failed: stores its description. */
static int on_verify(int is_ok, X509_STORE_CTX *store) {
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  struct line *line = SSL_get_app_data(ssl);
  X509 *certificate = X509_STORE_CTX_get0_cert(store);
  if (is_ok || certificate == NULL) return is_ok;
  line->refused = X509_STORE_CTX_get_error(store);
  list_names(certificate, line->names);
  return is_ok;
}

/* The next step after an SSL call returned RESULT: the events to wait for before a repetition, 0 if
   the peer has closed, or -errno with the reason written. */
static int want_of(struct line *line, int result) {
  int error = errno, want = SSL_get_error(line->ssl, result);
  if (want == SSL_ERROR_WANT_READ) return POLLIN;
  if (want == SSL_ERROR_WANT_WRITE) return POLLOUT;
  if (want == SSL_ERROR_ZERO_RETURN) return 0;
  errno = error == EAGAIN ? 0 : error;
  tls_failure(line->ssl, line->why, sizeof line->why);
  size_t len = strlen(line->why);
  if (line->refused != X509_V_OK && line->names[0] != '\0')
    snprintf(line->why + len, sizeof line->why - len, " (it names %s)", line->names);
  return want == SSL_ERROR_SYSCALL && error != 0 ? -error : -EPROTO;
}

static int shake_hands(struct line *line) {
  for (;;) {
    errno = 0;
    int result = SSL_connect(line->ssl);
    if (result == 1) return 0;
    int want = want_of(line, result);
    if (want == 0) return fail(line, -ECONNRESET);
    int ready = want < 0 ? want : wait_for(line, line->fd, (short)want);
    if (ready < 0) return ready;
  }
}

static int start_tls(struct line *line, const struct endpoint *to, SSL_CTX *tls, bool checked) {
  line->ssl = SSL_new(tls);
  if (line->ssl == NULL || SSL_set_fd(line->ssl, line->fd) != 1 ||
      (checked && !expect_host(line->ssl, to->host))) {
    snprintf(line->why, sizeof line->why, "TLS: out of memory");
    return -ENOMEM;
  }
  if (checked) {
    SSL_set_app_data(line->ssl, line);
    SSL_set_verify(line->ssl, SSL_VERIFY_PEER, on_verify);
  }
  SSL_set_mode(line->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return shake_hands(line);
}

int line_open(struct line *line, const struct endpoint *to, SSL_CTX *tls, bool checked) {
  line->fd = -1;
  line->ssl = NULL;
  line->refused = X509_V_OK;
  line->names[0] = '\0';
  int error = connect_to_any(line, to);
  if (error == 0 && tls != NULL) error = start_tls(line, to, tls, checked);
  if (error != 0) line_close(line);
  return error;
}

void line_close(struct line *line) {
  if (line->ssl != NULL && SSL_is_init_finished(line->ssl)) SSL_shutdown(line->ssl);
  SSL_free(line->ssl);
  if (line->fd >= 0) close(line->fd);
  line->ssl = NULL;
  line->fd = -1;
}

/* Sends as much as possible now. Returns the number of bytes, 0 with the events to wait for in
   WANT, or -errno. */
static long put_now(struct line *line, const void *data, size_t len, short *want) {
  *want = POLLOUT;
  errno = 0;
  if (line->ssl == NULL) {
    ssize_t put = send(line->fd, data, len, MSG_NOSIGNAL);
    if (put >= 0) return put;
    return errno == EAGAIN || errno == EINTR ? 0 : fail(line, -errno);
  }
  size_t put;
  int result = SSL_write_ex(line->ssl, data, len, &put);
  if (result == 1) return (long)put;
  int events = want_of(line, result);
  if (events == 0) return fail(line, -EPIPE);
  if (events > 0) *want = (short)events;
  return events < 0 ? events : 0;
}

long line_put(struct line *line, const void *data, size_t len) {
  short want;
  for (;;) {
    long put = put_now(line, data, len, &want);
    if (put != 0) return put;
    int ready = wait_for(line, line->fd, (short)(want | POLLIN));
    if (ready < 0) return ready;
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) return 0;
  }
}

static long get_now(struct line *line, void *data, size_t room, short *want) {
  *want = POLLIN;
  errno = 0;
  if (line->ssl == NULL) {
    ssize_t got = recv(line->fd, data, room, 0);
    if (got >= 0) return got;
    return errno == EAGAIN || errno == EINTR ? -EAGAIN : fail(line, -errno);
  }
  size_t got;
  int result = SSL_read_ex(line->ssl, data, room, &got);
  if (result == 1) return (long)got;
  int events = want_of(line, result);
  if (events > 0) *want = (short)events;
  return events > 0 ? -EAGAIN : events;
}

long line_get(struct line *line, void *data, size_t room, bool is_patient) {
  short want;
  for (;;) {
    long got = get_now(line, data, room, &want);
    if (got != -EAGAIN || !is_patient) return got;
    int ready = wait_for(line, line->fd, want);
    if (ready < 0) return ready;
  }
}
