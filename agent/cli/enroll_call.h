/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request over TLS and reads its answer, blocking, with a deadline. */
#ifndef CLI_ENROLL_CALL_H
#define CLI_ENROLL_CALL_H

#include "common/endpoint.h"
#include "proto/messages.h"

#include <openssl/ssl.h>

enum { ENROLL_WHY_BYTES = 256 };

struct enroll_call {
  const struct endpoint *address;
  SSL_CTX *context;
  const struct message *question;
  struct arena *arena;        /* holds the answer */
  char why[ENROLL_WHY_BYTES]; /* one line, after a failure */
};

/* Connects, sends the request, and decodes the first frame of the answer.  Returns 0, or -errno
   with call->why. */
int enroll_call(struct enroll_call *call, struct message *ret_answer);

#endif
