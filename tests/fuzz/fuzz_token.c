/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a token, from an Authorization field or an Enroll message. Only the two valid lengths
   and the tokens' alphabet are accepted. The hash covers only the secret part, and every output of
   token_print is accepted. */
#include "identity/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Accepted text has a valid form, and text after the secret does not change the hash. */
static void check_text(const uint8_t *data, size_t len) {
  uint8_t hash[TOKEN_HASH_BYTES], of_secret[TOKEN_HASH_BYTES];
  char *text = malloc(len + 1);
  if (text == NULL) abort();
  memcpy(text, data, len);
  text[len] = '\0';
  int result = token_hash(text, hash);
  if (result != 0 && result != -EBADMSG) abort();
  if (result == 0) {
    size_t text_len = strlen(text);
    if (text_len != TOKEN_SECRET_CHARS && text_len != TOKEN_TEXT_BYTES - 1) abort();
    if (strncmp(text, "fpt_", 4) != 0) abort();
    text[TOKEN_SECRET_CHARS] = '\0';
    if (token_hash(text, of_secret) != 0) abort();
    if (memcmp(hash, of_secret, sizeof hash) != 0) abort();
  }
  free(text);
}

static void check_printed(const uint8_t *random, const uint8_t *fingerprint) {
  char text[TOKEN_TEXT_BYTES];
  uint8_t hash[TOKEN_HASH_BYTES];
  size_t expected = fingerprint != NULL ? TOKEN_TEXT_BYTES - 1 : TOKEN_SECRET_CHARS;
  token_print(random, fingerprint, text);
  if (strlen(text) != expected || token_hash(text, hash) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  check_text(data, len);
  if (len < TOKEN_RANDOM_BYTES) return 0;
  check_printed(data, NULL);
  if (len >= TOKEN_RANDOM_BYTES + TOKEN_FINGERPRINT_BYTES)
    check_printed(data, data + TOKEN_RANDOM_BYTES);
  return 0;
}
