/* SPDX-License-Identifier: Apache-2.0 */
/* A board's key, and the request for a certificate of it. */
#ifndef CREDENTIALS_CREDENTIAL_REQUEST_H
#define CREDENTIALS_CREDENTIAL_REQUEST_H

#include "common/span.h"

#include <openssl/x509.h>

struct buf;

/* Makes a P-256 key, the caller's to free; NULL when OpenSSL cannot. */
EVP_PKEY *credential_key_make(void);

/* Appends KEY as PEM.  Returns 0 or -ENOMEM. */
int credential_key_print(EVP_PKEY *key, struct buf *ret);

/* Appends the signing request (DER) for KEY.  Returns 0 or -ENOMEM. */
int credential_request_make(EVP_PKEY *key, struct buf *ret);

/* Reads the first certificate of PEM, at most LIMIT_CERTIFICATE_BYTES; NULL when there is none. */
X509 *credential_certificate_parse(struct span pem);

#endif
