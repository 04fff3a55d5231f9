/* SPDX-License-Identifier: Apache-2.0 */
/* TLS contexts for both ends: TLS 1.3 preferred, at least 1.2, no renegotiation, no session
   tickets, ALPN "fleetprof/1". Ends are distinguished by extended key usage: only collectors have
   serverAuth certificates and only boards clientAuth ones, all under the fleet's own CA. So the
   address that a board connects to does not matter for trust. */
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
  int64_t earliest_s;      /* a client's lower bound of the time, in seconds since 1970 */
  /* For a server while one CA replaces another, NULL otherwise: shown to clients that announce the
     second CA. */
  const char *next_certificate, *next_key, *next_ca;
};

/* Makes a server context. A client may connect without a certificate (it may then only enroll); a
   client's certificate must verify. Returns NULL with the reason in ERROR. */
SSL_CTX *tls_server_context(const struct tls_paths *paths, char *error, size_t error_len);

/* Makes a client context that verifies the collector against PATHS->ca, and announces these CAs. It
   uses the wall clock if it is known to be right, else PATHS->earliest_s (tls.c). Certificate and
   key may be NULL (before enrolment). Returns NULL with the reason in ERROR. */
SSL_CTX *tls_client_context(const struct tls_paths *paths, char *error, size_t error_len);

/* Makes a client context for enrolment that accepts only a chain with a root certificate of SHA-256
   FINGERPRINT (32 bytes). Returns NULL with the reason in ERROR. */
SSL_CTX *tls_enrol_context(const unsigned char fingerprint[32], char *error, size_t error_len);

/* Makes a client context for HTTPS: the roots in the PEM file CA (NULL: this machine's), and
   http/1.1. The caller sets the host that the certificate must name. Returns NULL with the reason
   in ERROR. */
SSL_CTX *tls_web_context(const char *ca, char *error, size_t error_len);

/* Copies the board's name (the verified client certificate's subject CN) into NAME. Returns 0,
   -ENOENT if the peer sent no certificate, -EBADMSG if it has no usable name. */
int tls_peer_name(const SSL *ssl, char *name, size_t name_len);

/* Writes why the handshake or the last operation failed, in words for users (expired, not yet
   valid, unknown CA, revoked, ...). */
void tls_failure(const SSL *ssl, char *why, size_t why_len);

#endif
