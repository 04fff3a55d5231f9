/* SPDX-License-Identifier: Apache-2.0 */
/* The key is created here and never leaves the board.  The request contains only its public half:
   the collector decides the name, the lifetime and all else. */
#include "credential_request.h"

#include "common/buf.h"
#include "proto/limits.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/pem.h>

EVP_PKEY *credential_key_make(void) {
  return EVP_EC_gen("P-256");
}

int credential_key_print(EVP_PKEY *key, struct buf *ret) {
  BIO *memory = BIO_new(BIO_s_secmem());
  char *text = NULL;
  int rc = -ENOMEM;
  if (memory != NULL &&
      PEM_write_bio_PKCS8PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) == 1) {
    long len = BIO_get_mem_data(memory, &text);
    buf_append(ret, text, (size_t)len);
    rc = ret->failed ? -ENOMEM : 0;
  }
  BIO_free(memory);
  return rc;
}

int credential_request_make(EVP_PKEY *key, struct buf *ret) {
  X509_REQ *request = X509_REQ_new();
  unsigned char *der = NULL;
  int len = -1;
  if (request != NULL && X509_REQ_set_pubkey(request, key) == 1 &&
      X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_ASC,
                                 (const unsigned char *)"board", -1, -1, 0) == 1 &&
      X509_REQ_sign(request, key, EVP_sha256()) > 0)
    len = i2d_X509_REQ(request, &der);
  if (len > 0) buf_append(ret, der, (size_t)len);
  OPENSSL_free(der);
  X509_REQ_free(request);
  return len > 0 && !ret->failed ? 0 : -ENOMEM;
}

X509 *credential_certificate_parse(struct span pem) {
  if (pem.len == 0 || pem.len > LIMIT_CERTIFICATE_BYTES) return NULL;
  BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.len);
  X509 *certificate = memory != NULL ? PEM_read_bio_X509(memory, NULL, NULL, NULL) : NULL;
  BIO_free(memory);
  return certificate;
}
