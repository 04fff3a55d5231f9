/* SPDX-License-Identifier: Apache-2.0 */
/* A connection, plain or TLS, used by one thread that can wait. Every wait has a limit.

   TLS writes by write(2): the process must ignore SIGPIPE. */
#ifndef FETCH_LINE_H
#define FETCH_LINE_H

#include "common/endpoint.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_WHY_BYTES = 512, LINE_NAMES_BYTES = 256 };

struct line {           /* caller's storage; closed: fd is -1 */
  uint64_t patience_ns; /* set by the caller: limit of a single wait... */
  uint64_t until_ns;    /* ...and of all waits, on clock_monotonic_ns; 0: none */
  int fd;
  SSL *ssl;                 /* NULL: plain */
  char why[LINE_WHY_BYTES]; /* one line, after a failure */
  /* Of a rejected certificate: the reason (X509_V_ERR_*, X509_V_OK: none), and its names. */
  long refused;
  char names[LINE_NAMES_BYTES];
};

/* Connects to the first of TO's addresses that answers. With TLS (borrowed, may be NULL) makes the
   handshake; CHECKED: the peer's certificate must be for TO->host. Returns 0, or -errno with
   line->why: LINE is then closed. */
int line_open(struct line *line, const struct endpoint *to, SSL_CTX *tls, bool checked);

/* Closes the connection, if any. */
void line_close(struct line *line);

/* Sends some of LEN (not 0) bytes: waits until the peer accepts some, or has sent something.
   Returns their number; 0 if the peer's data must be read first; or -errno with line->why. */
long line_put(struct line *line, const void *data, size_t len);

/* Receives up to ROOM bytes; waits for the first if IS_PATIENT. Returns their number, 0 at the end
   of the peer's data, -EAGAIN if there are none and IS_PATIENT is false, or -errno with
   line->why. */
long line_get(struct line *line, void *data, size_t room, bool is_patient);

#endif
