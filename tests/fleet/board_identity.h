/* SPDX-License-Identifier: Apache-2.0 */
/* A board's own key and the certificate that the fleet's authority gives it, as a factory with the
   authority at hand would make them: enrolment by token is an exchange of its own. */
#ifndef FLEET_BOARD_IDENTITY_H
#define FLEET_BOARD_IDENTITY_H

#include <openssl/ssl.h>
#include <stddef.h>

struct ca;

struct board_identity {
  EVP_PKEY *key;
  X509 *certificate;
};

/* Makes the identity of NAME. Returns 0 or -errno, with one line in WHY. Any thread. */
int board_identity_make(struct ca *ca, const char *name, struct board_identity *ret, char *why,
                        size_t why_len);
void board_identity_fini(struct board_identity *identity);

/* A connection's TLS with that identity, or NULL. */
SSL *board_identity_ssl(const struct board_identity *identity, SSL_CTX *context);

#endif
