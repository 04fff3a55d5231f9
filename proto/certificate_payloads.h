/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for a board's certificate: the first one and renewals. */
#ifndef PROTO_CERTIFICATE_PAYLOADS_H
#define PROTO_CERTIFICATE_PAYLOADS_H

#include "common/span.h"

struct enroll {
  uint32_t version;
  const char *token;
  struct span csr; /* DER */
};

struct enrolled {
  const char *board;
  struct span certificate; /* PEM */
  struct span ca;          /* PEM */
  const char *error;       /* empty: enrolled */
};

struct renew {
  struct span csr; /* DER */
};

struct renewed {
  struct span certificate; /* PEM */
  struct span ca;          /* PEM, all CAs that the board must trust from now on */
  const char *error;       /* empty: renewed */
};

#endif
