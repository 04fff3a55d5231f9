/* SPDX-License-Identifier: Apache-2.0 */
/* The hash is over the DER and not over the file's bytes: text between the certificates of a PEM
   file (comments, line ends) does not matter for trust. */
#include "tls_trust.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

static bool add(EVP_MD_CTX *digest, X509 *certificate) {
  unsigned char *der = NULL;
  int len = i2d_X509(certificate, &der);
  bool is_added = len > 0 && EVP_DigestUpdate(digest, der, (size_t)len) == 1;
  OPENSSL_free(der);
  return is_added;
}

/* Returns the number of certificates in BIO, or -1. */
static int add_all(EVP_MD_CTX *digest, BIO *bio) {
  int count = 0;
  for (X509 *certificate; (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL;
       count++) {
    bool is_added = add(digest, certificate);
    X509_free(certificate);
    if (!is_added) return -1;
  }
  ERR_clear_error(); /* PEM reports the end as an error */
  return count;
}

uint64_t tls_trust_of(struct span pem) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  uint64_t trust = 0;
  if (pem.len == 0 || pem.len > INT_MAX) return 0;
  EVP_MD_CTX *digest = EVP_MD_CTX_new();
  BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
  if (digest != NULL && bio != NULL && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1 &&
      add_all(digest, bio) > 0 && EVP_DigestFinal_ex(digest, bytes, NULL) == 1)
    for (int i = 0; i < 8; i++) trust |= (uint64_t)bytes[i] << 8 * i;
  BIO_free(bio);
  EVP_MD_CTX_free(digest);
  return trust;
}
