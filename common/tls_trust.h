/* SPDX-License-Identifier: Apache-2.0 */
/* A short identifier of a set of CA certificates. A board compares two numbers to find out whether
   it has the CAs that its collector distributes. It only triggers a download, and decides nothing
   else. */
#ifndef COMMON_TLS_TRUST_H
#define COMMON_TLS_TRUST_H

#include "span.h"

/* Returns the first eight bytes (little-endian) of the SHA-256 over the DER of the certificates in
   PEM, in their order; 0 if there are none.  Any thread. */
uint64_t tls_trust_of(struct span pem);

#endif
