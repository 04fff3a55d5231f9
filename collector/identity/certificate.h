/* SPDX-License-Identifier: Apache-2.0 */
/* One function makes every certificate of the fleet, from terms that the collector sets. */
#ifndef IDENTITY_CERTIFICATE_H
#define IDENTITY_CERTIFICATE_H

#include <openssl/x509.h>
#include <stdint.h>

enum certificate_use { CERTIFICATE_ROOT, CERTIFICATE_SERVER, CERTIFICATE_BOARD };

struct certificate_terms {
  enum certificate_use use;
  const char *name;      /* subject's common name */
  const char *alt_names; /* "DNS:a,IP:127.0.0.1" or "URI:..."; NULL for a root */
  int days; /* life from now, plus SECONDS; validity starts a thirtieth of the life earlier, at most
               a day, for boards with a slow clock */
  long seconds;
};

/* Makes a P-256 key, or returns NULL. */
EVP_PKEY *certificate_key_make(void);

/* Writes the SHA-256 of KEY's public half. Returns 0 or -ENOMEM. Any thread. */
int certificate_key_digest(const EVP_PKEY *key, uint8_t ret_digest[32]);

/* Returns the first eight bytes (little-endian) of the SHA-256 of CERTIFICATE: enough to
   distinguish the roots of one fleet. 0 if memory runs out. Any thread. */
uint64_t certificate_id(const X509 *certificate);

/* Returns when CERTIFICATE, made by certificate_make, was signed, in seconds since 1970: the start
   of its validity plus the leeway, which depends on its life. 0 if it cannot be parsed. */
int64_t certificate_signed_s(const X509 *certificate);

/* Makes the certificate of KEY (its public half) on TERMS, signed by ISSUER's ISSUER_KEY; ISSUER
   NULL: self-signed. Returns NULL if memory or randomness fails. Any thread. */
X509 *certificate_make(const struct certificate_terms *terms, EVP_PKEY *key, X509 *issuer,
                       EVP_PKEY *issuer_key);

#endif
