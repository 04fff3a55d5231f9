/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the enrolment: the token's fingerprint, and whether the answer matches the request. */
#ifndef CLI_ENROLL_IDENTITY_H
#define CLI_ENROLL_IDENTITY_H

#include "proto/messages.h"

#include <openssl/evp.h>

enum { ENROLL_FINGERPRINT_BYTES = 32 };

/* Reads the root's fingerprint out of an enroll token ("fpt_", 32 characters, "_", 43 characters).
   Returns 0 or -EINVAL.  Pure. */
int enroll_token_parse(const char *token, uint8_t ret_fingerprint[ENROLL_FINGERPRINT_BYTES]);

/* Returns NULL if ENROLLED holds a certificate for KEY, signed by a CA with FINGERPRINT; else the
   fault. */
const char *enroll_answer_check(const struct enrolled *enrolled, EVP_PKEY *key,
                                const uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES]);

#endif
