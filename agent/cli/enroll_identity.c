/* SPDX-License-Identifier: Apache-2.0 */
/* The connection was pinned to the token's fingerprint, and the answer is checked all the same.  A
   certificate for another key would fail only at the next connect, when the old identity is gone.
   The CA in the answer is the CA that this board will trust. */
#include "enroll_identity.h"

#include "credentials/credential_request.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509.h>

static const char token_prefix[] = "fpt_";

enum {
  SECRET_CHARS = 32, /* 24 bytes in base64url */
  FINGERPRINT_AT = sizeof token_prefix - 1 + SECRET_CHARS + 1,
  FINGERPRINT_CHARS = 43, /* 32 bytes in base64url, no padding */
};

static int base64url_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  return c == '_' ? 63 : -1;
}

int enroll_token_parse(const char *token, uint8_t ret_fingerprint[ENROLL_FINGERPRINT_BYTES]) {
  uint8_t bytes[ENROLL_FINGERPRINT_BYTES];
  uint32_t bits = 0, bit_count = 0, count = 0;
  if (strlen(token) != FINGERPRINT_AT + FINGERPRINT_CHARS) return -EINVAL;
  if (memcmp(token, token_prefix, sizeof token_prefix - 1) != 0) return -EINVAL;
  for (int i = sizeof token_prefix - 1; i < FINGERPRINT_AT - 1; i++)
    if (base64url_digit(token[i]) < 0) return -EINVAL;
  if (token[FINGERPRINT_AT - 1] != '_') return -EINVAL;
  for (int i = 0; i < FINGERPRINT_CHARS; i++) {
    int digit = base64url_digit(token[FINGERPRINT_AT + i]);
    if (digit < 0) return -EINVAL;
    bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes[count++] = (uint8_t)(bits >> bit_count);
  }
  memcpy(ret_fingerprint, bytes, sizeof bytes);
  return 0;
}

static const char *check_pair(X509 *certificate, X509 *root, EVP_PKEY *key,
                              const uint8_t *fingerprint) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned len = 0;
  if (certificate == NULL) return "its certificate does not read";
  if (root == NULL) return "its CA certificate does not read";
  if (X509_digest(root, EVP_sha256(), digest, &len) != 1 || len != ENROLL_FINGERPRINT_BYTES ||
      CRYPTO_memcmp(digest, fingerprint, len) != 0)
    return "its CA is not the one that the token names";
  if (X509_check_private_key(certificate, key) != 1) return "its certificate is for another key";
  if (X509_verify(certificate, X509_get0_pubkey(root)) != 1)
    return "its certificate is not signed by its CA";
  return NULL;
}

const char *enroll_answer_check(const struct enrolled *enrolled, EVP_PKEY *key,
                                const uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES]) {
  X509 *certificate = credential_certificate_parse(enrolled->certificate);
  X509 *root = credential_certificate_parse(enrolled->ca);
  const char *wrong = check_pair(certificate, root, key, fingerprint);
  X509_free(certificate);
  X509_free(root);
  ERR_clear_error();
  return wrong;
}
