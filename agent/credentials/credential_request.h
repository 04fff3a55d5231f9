/* SPDX-License-Identifier: Apache-2.0 */
/* A board's key and its certificate request. */
#ifndef CREDENTIALS_CREDENTIAL_REQUEST_H
#define CREDENTIALS_CREDENTIAL_REQUEST_H

#include "common/span.h"

#include <openssl/x509.h>

struct buf;

/* Creates a P-256 key, which the caller frees; NULL if OpenSSL fails. */
EVP_PKEY *credential_key_make(void);

/* Appends KEY as PEM.  Returns 0 or -ENOMEM. */
int credential_key_print(EVP_PKEY *key, struct buf *ret);

/* Appends the certificate signing request (DER) for KEY.  Returns 0 or -ENOMEM. */
int credential_request_make(EVP_PKEY *key, struct buf *ret);

/* Parses the first certificate of PEM, at most LIMIT_CERTIFICATE_BYTES; NULL if there is none. */
X509 *credential_certificate_parse(struct span pem);

#endif
