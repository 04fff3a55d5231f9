/* SPDX-License-Identifier: Apache-2.0 */
/* One function makes every certificate of the fleet, from terms that are all ours. */
#ifndef IDENTITY_CERTIFICATE_H
#define IDENTITY_CERTIFICATE_H

#include <openssl/x509.h>
#include <stdint.h>

enum certificate_use { CERTIFICATE_ROOT, CERTIFICATE_SERVER, CERTIFICATE_BOARD };

struct certificate_terms {
  enum certificate_use use;
  const char *name;      /* subject's common name */
  const char *alt_names; /* "DNS:a,IP:127.0.0.1" or "URI:..."; NULL for a root */
  int days; /* from now, and SECONDS more; it is valid from a thirtieth of that ago, a day at most,
               for boards whose clock is behind */
  long seconds;
};

/* Makes a P-256 key, or NULL. */
EVP_PKEY *certificate_key_make(void);

/* Writes the SHA-256 of KEY's public half.  Returns 0 or -ENOMEM.  Any thread. */
int certificate_key_digest(const EVP_PKEY *key, uint8_t ret_digest[32]);

/* The first eight bytes (little-endian) of the SHA-256 of CERTIFICATE: enough to tell the roots of
   one fleet apart.  0 when memory failed.  Any thread. */
uint64_t certificate_id(const X509 *certificate);

/* When CERTIFICATE, made by certificate_make, was signed, in seconds since 1970: the beginning of
   its validity without what that is moved back, which depends on its life.  0 when it does not say.
 */
int64_t certificate_signed_s(const X509 *certificate);

/* Makes the certificate of KEY (its public half) on TERMS, signed by ISSUER's ISSUER_KEY; ISSUER
   NULL signs it by itself.  Returns NULL when memory or randomness failed.  Any thread. */
X509 *certificate_make(const struct certificate_terms *terms, EVP_PKEY *key, X509 *issuer,
                       EVP_PKEY *issuer_key);

#endif
