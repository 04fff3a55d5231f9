/* SPDX-License-Identifier: Apache-2.0 */
/* One connection, plain or TLS, used by one thread that can wait.  Every wait has an end.

   TLS writes by write(2): whoever uses this ignores SIGPIPE. */
#ifndef FETCH_LINE_H
#define FETCH_LINE_H

#include "common/endpoint.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_WHY_BYTES = 512, LINE_NAMES_BYTES = 256 };

struct line {           /* caller's storage; closed: fd is -1 */
  uint64_t patience_ns; /* set by the caller: the longest that one wait takes... */
  uint64_t until_ns;    /* ...and when all of them end, on clock_monotonic_ns; 0: never */
  int fd;
  SSL *ssl;                 /* NULL: plain */
  char why[LINE_WHY_BYTES]; /* one line, after a failure */
  /* Of a certificate that was refused: why (X509_V_ERR_*, X509_V_OK: none was), and whom it names.
   */
  long refused;
  char names[LINE_NAMES_BYTES];
};

/* Connects to the first of TO's addresses that answers.  With TLS (borrowed, may be NULL) shakes
   hands; CHECKED says whether the peer's certificate must be TO->host's.  Returns 0, or -errno with
   line->why: then LINE is closed. */
int line_open(struct line *line, const struct endpoint *to, SSL_CTX *tls, bool checked);

/* Ends the connection, if there is one. */
void line_close(struct line *line);

/* Sends some of LEN (not 0) bytes: waits until the peer takes some, or has something to say.
   Returns their number; 0 when the peer wants to be heard first; or -errno with line->why. */
long line_put(struct line *line, const void *data, size_t len);

/* Receives up to ROOM bytes; waits for the first when IS_PATIENT.  Returns their number, 0 at the
   end of what the peer sends, -EAGAIN when there is none and nobody waits, or -errno with
   line->why. */
long line_get(struct line *line, void *data, size_t room, bool is_patient);

#endif
