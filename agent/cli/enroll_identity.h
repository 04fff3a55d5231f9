/* SPDX-License-Identifier: Apache-2.0 */
/* What enrolment computes: the token's fingerprint, the board's key and its request, and whether
   the answer is an answer to it. */
#ifndef CLI_ENROLL_IDENTITY_H
#define CLI_ENROLL_IDENTITY_H

#include "proto/messages.h"

#include <openssl/evp.h>

struct buf;

enum { ENROLL_FINGERPRINT_BYTES = 32 };

/* Reads the root's fingerprint out of an enroll token ("fpt_", 32 characters, "_", 43 characters).
   Returns 0 or -EINVAL.  Pure. */
int enroll_token_parse(const char *token, uint8_t ret_fingerprint[ENROLL_FINGERPRINT_BYTES]);

/* Makes a P-256 key, the caller's to free; NULL when OpenSSL cannot. */
EVP_PKEY *enroll_key_make(void);

/* Appends KEY as PEM.  Returns 0 or -ENOMEM. */
int enroll_key_print(EVP_PKEY *key, struct buf *ret);

/* Appends the signing request (DER) for KEY.  Returns 0 or -ENOMEM. */
int enroll_request_make(EVP_PKEY *key, struct buf *ret);

/* Returns NULL when ENROLLED holds a certificate for KEY, signed by a CA of FINGERPRINT; else what
   is wrong with it. */
const char *enroll_answer_check(const struct enrolled *enrolled, EVP_PKEY *key,
                                const uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES]);

#endif
