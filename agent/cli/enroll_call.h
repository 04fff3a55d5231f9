/* SPDX-License-Identifier: Apache-2.0 */
/* One question over TLS and its answer, blocking, with a deadline. */
#ifndef CLI_ENROLL_CALL_H
#define CLI_ENROLL_CALL_H

#include "proto/messages.h"

#include <openssl/ssl.h>

enum { ENROLL_HOST_BYTES = 256, ENROLL_PORT_BYTES = 6, ENROLL_WHY_BYTES = 256 };

struct enroll_address {
  char host[ENROLL_HOST_BYTES];
  char port[ENROLL_PORT_BYTES];
};

struct enroll_call {
  const struct enroll_address *address;
  SSL_CTX *context;
  const struct message *question;
  struct arena *arena;        /* the answer lives there */
  char why[ENROLL_WHY_BYTES]; /* one line, after a failure */
};

/* Reads HOST:PORT or [ADDRESS]:PORT.  Returns 0 or -EINVAL.  Pure. */
int enroll_address_parse(const char *text, struct enroll_address *ret);

/* Connects, asks, and decodes the first frame that comes back.  Returns 0, or -errno with
   call->why. */
int enroll_call(struct enroll_call *call, struct message *ret_answer);

#endif
