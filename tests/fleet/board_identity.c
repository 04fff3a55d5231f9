/* SPDX-License-Identifier: Apache-2.0 */
/* One client context serves all boards; each connection gets its board's certificate and key. */
#include "board_identity.h"

#include "common/buf.h"
#include "identity/ca.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>

static int make_request(EVP_PKEY *key, unsigned char **ret_der) {
  X509_REQ *request = X509_REQ_new();
  int len = -1;
  if (request != NULL && X509_REQ_set_pubkey(request, key) == 1 &&
      X509_REQ_sign(request, key, EVP_sha256()) > 0)
    len = i2d_X509_REQ(request, ret_der);
  X509_REQ_free(request);
  return len;
}

static int sign(struct ca *ca, EVP_PKEY *key, const char *name, struct buf *pem, char *why,
                size_t why_len) {
  unsigned char *der = NULL;
  int len = make_request(key, &der);
  if (len < 0) return -ENOMEM;
  const struct ca_request request = {.csr = span_of(der, (size_t)len), .board = name};
  int error = ca_sign(ca, &request, pem, why, why_len);
  OPENSSL_free(der);
  return error;
}

int board_identity_make(struct ca *ca, const char *name, struct board_identity *ret, char *why,
                        size_t why_len) {
  struct buf pem = {0};
  *ret = (struct board_identity){.key = EVP_EC_gen("P-256")};
  snprintf(why, why_len, "%s: no key or certificate", name);
  int error = ret->key ? sign(ca, ret->key, name, &pem, why, why_len) : -ENOMEM;
  if (error == 0) {
    BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.len);
    ret->certificate = memory ? PEM_read_bio_X509(memory, NULL, NULL, NULL) : NULL;
    BIO_free(memory);
    if (ret->certificate == NULL) error = -ENOMEM;
  }
  buf_fini(&pem);
  if (error != 0) board_identity_fini(ret);
  return error;
}

void board_identity_fini(struct board_identity *identity) {
  EVP_PKEY_free(identity->key);
  X509_free(identity->certificate);
  *identity = (struct board_identity){0};
}

SSL *board_identity_ssl(const struct board_identity *identity, SSL_CTX *context) {
  SSL *ssl = SSL_new(context);
  if (ssl != NULL && SSL_use_certificate(ssl, identity->certificate) == 1 &&
      SSL_use_PrivateKey(ssl, identity->key) == 1)
    return ssl;
  SSL_free(ssl);
  return NULL;
}
