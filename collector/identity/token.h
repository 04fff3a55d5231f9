/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a token, and the hash that is stored. Pure. */
#ifndef IDENTITY_TOKEN_H
#define IDENTITY_TOKEN_H

#include <stddef.h>
#include <stdint.h>

enum {
  TOKEN_RANDOM_BYTES = 24,
  TOKEN_FINGERPRINT_BYTES = 32,
  TOKEN_HASH_BYTES = 32,
  TOKEN_SECRET_CHARS = 4 + 32,      /* "fpt_" and 24 bytes in base64url */
  TOKEN_FINGERPRINT_CHARS = 1 + 43, /* "_" and 32 bytes in base64url */
  TOKEN_TEXT_BYTES = TOKEN_SECRET_CHARS + TOKEN_FINGERPRINT_CHARS + 1,
  TOKEN_PREFIX_CHARS = 8, /* shown to operators to distinguish tokens */
};

/* Writes the token of RANDOM, and of FINGERPRINT if not NULL, to TEXT. */
void token_print(const uint8_t random[TOKEN_RANDOM_BYTES], const uint8_t *fingerprint,
                 char text[TOKEN_TEXT_BYTES]);

/* Checks the form of TEXT and hashes its secret part, without the fingerprint. Returns 0 or
   -EBADMSG. */
int token_hash(const char *text, uint8_t ret_hash[TOKEN_HASH_BYTES]);

#endif
