/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens.

     fpt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
     |    24 random bytes, base64url      | SHA-256 of the root, base64url; enroll tokens only

   192 random bits need no slow hash: their SHA-256 reveals nothing to a reader of the database.
   Only the secret part is hashed, so a client may keep the fingerprint to itself. Both parts may
   contain the separator, so they are split by length. */
#include "token.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#define BASE64URL "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
#define TOKEN_START "fpt_"

enum { START_CHARS = sizeof TOKEN_START - 1, BITS_PER_CHAR = 6, BITS_PER_BYTE = 8 };

/* Writes LEN bytes of DATA without padding and returns the end of the text. */
static char *base64url_print(const uint8_t *data, size_t len, char *text) {
  uint32_t bits = 0;
  unsigned count = 0;
  for (size_t i = 0; i < len; i++) {
    bits = bits << BITS_PER_BYTE | data[i];
    for (count += BITS_PER_BYTE; count >= BITS_PER_CHAR; count -= BITS_PER_CHAR)
      *text++ = BASE64URL[bits >> (count - BITS_PER_CHAR) & 63];
  }
  if (count > 0) *text++ = BASE64URL[bits << (BITS_PER_CHAR - count) & 63];
  return text;
}

void token_print(const uint8_t random[TOKEN_RANDOM_BYTES], const uint8_t *fingerprint,
                 char text[TOKEN_TEXT_BYTES]) {
  memcpy(text, TOKEN_START, START_CHARS);
  char *end = base64url_print(random, TOKEN_RANDOM_BYTES, text + START_CHARS);
  if (fingerprint != NULL) {
    *end++ = '_';
    end = base64url_print(fingerprint, TOKEN_FINGERPRINT_BYTES, end);
  }
  *end = 0;
}

int token_hash(const char *text, uint8_t ret_hash[TOKEN_HASH_BYTES]) {
  size_t len = strnlen(text, TOKEN_TEXT_BYTES);
  if (len != TOKEN_SECRET_CHARS && len != TOKEN_TEXT_BYTES - 1) return -EBADMSG;
  if (strncmp(text, TOKEN_START, START_CHARS) != 0 || strspn(text, BASE64URL) != len)
    return -EBADMSG;
  if (len > TOKEN_SECRET_CHARS && text[TOKEN_SECRET_CHARS] != '_') return -EBADMSG;
  return EVP_Digest(text, TOKEN_SECRET_CHARS, ret_hash, NULL, EVP_sha256(), NULL) == 1 ? 0
                                                                                       : -EBADMSG;
}
