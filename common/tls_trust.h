/* SPDX-License-Identifier: Apache-2.0 */
/* A short name for a set of CA certificates: whether a board trusts what its collector hands out is
   a comparison of two numbers.  It tells that something is to be fetched and decides nothing else.
 */
#ifndef COMMON_TLS_TRUST_H
#define COMMON_TLS_TRUST_H

#include "span.h"

/* Returns the first eight bytes (little-endian) of the SHA-256 over the DER of the certificates in
   PEM, in their order; 0 when there is none.  Any thread. */
uint64_t tls_trust_of(struct span pem);

#endif
