/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts from a certificate request its only used part: a public key whose owner signed the
   request. */
#ifndef IDENTITY_CSR_H
#define IDENTITY_CSR_H

#include "common/span.h"

#include <openssl/evp.h>

/* Checks DER, a PKCS#10 request, and returns its public key, rebuilt from the bare curve point so
   that nothing else of the request survives. Returns 0 with RET_KEY for the caller to free;
   -EBADMSG with the reason in WHY (too long, malformed, not P-256, wrong signature); or -ENOMEM.
   Any thread. */
int csr_key(struct span der, EVP_PKEY **ret_key, char *why, size_t why_len);

#endif
