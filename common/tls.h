/* SPDX-License-Identifier: Apache-2.0 */
/* TLS contexts for both ends: TLS 1.3 preferred, 1.2 the floor, no renegotiation, no session
   tickets, ALPN "fleetprof/1".  Ends are told apart by extended key usage: only collectors hold
   serverAuth certificates and only boards clientAuth ones, all under the fleet's own CA, so the
   address a board dials plays no part in trust. */
#ifndef COMMON_TLS_H
#define COMMON_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_ALPN "fleetprof/1"

struct tls_paths {
  const char *certificate; /* PEM, leaf first */
  const char *key;         /* PEM, mode 0600 */
  const char *ca;          /* PEM, the fleet's CA certificates */
  int64_t earliest_s;      /* a client's: it is this late at least, in seconds since 1970 */
  /* A server's while one CA takes over from another, NULL otherwise: what is shown to clients that
     say that they trust the second CA. */
  const char *next_certificate, *next_key, *next_ca;
};

/* Makes a server context.  A client may come without a certificate (it may then only enroll); one
   that shows a certificate must verify.  Returns NULL with the reason in ERROR. */
SSL_CTX *tls_server_context(const struct tls_paths *paths, char *error, size_t error_len);

/* Makes a client context that verifies the collector against PATHS->ca, and tells it which these
   are, by the wall clock where
   that is known to be right and else by PATHS->earliest_s (tls.c); certificate and key may
   be NULL (before enrolment).  Returns NULL with the reason in ERROR. */
SSL_CTX *tls_client_context(const struct tls_paths *paths, char *error, size_t error_len);

/* Makes a client context for enrolment that accepts exactly the chain whose root certificate has
   the SHA-256 FINGERPRINT (32 bytes).  Returns NULL with the reason in ERROR. */
SSL_CTX *tls_enrol_context(const unsigned char fingerprint[32], char *error, size_t error_len);

/* Makes a client context for HTTPS: the roots in the PEM file CA, or this machine's when that is
   NULL, and http/1.1; whoever connects says which host the certificate must name.  Returns NULL
   with the reason in ERROR. */
SSL_CTX *tls_web_context(const char *ca, char *error, size_t error_len);

/* Copies the board's name (the verified client certificate's subject CN) into NAME.  Returns 0,
   -ENOENT when the peer showed no certificate, -EBADMSG when it carries no usable name. */
int tls_peer_name(const SSL *ssl, char *name, size_t name_len);

/* Writes why the handshake or the last operation failed, in words for a person (expired, not yet
   valid, unknown CA, revoked, ...). */
void tls_failure(const SSL *ssl, char *why, size_t why_len);

#endif
