/* SPDX-License-Identifier: Apache-2.0 */
/* Certificate requests for tests: an honest one, and requests for excessive rights. */
#ifndef TESTS_REQUEST_FIXTURE_H
#define TESTS_REQUEST_FIXTURE_H

#include "common/span.h"

#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

enum { REQUEST_BYTES_MAX = 32 << 10 };

struct request {
  uint8_t der[REQUEST_BYTES_MAX];
  size_t len;
};

static inline void request_add(STACK_OF(X509_EXTENSION) * list, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, NULL, NULL, NULL, NULL, 0);
  sk_X509_EXTENSION_push(list, X509V3_EXT_conf_nid(NULL, &context, nid, value));
}

/* Makes a request for KEY signed by SIGNER that claims to be an authority named "evil". */
static inline void request_make(EVP_PKEY *key, EVP_PKEY *signer, struct request *ret) {
  X509_REQ *request = X509_REQ_new();
  STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
  X509_REQ_set_pubkey(request, key);
  X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_UTF8,
                             (const unsigned char *)"evil", -1, -1, 0);
  request_add(list, NID_basic_constraints, "critical,CA:TRUE");
  request_add(list, NID_subject_alt_name, "DNS:evil.example,URI:spiffe://fleetprof/board/evil");
  request_add(list, NID_ext_key_usage, "serverAuth");
  X509_REQ_add_extensions(request, list);
  X509_REQ_sign(request, signer, EVP_sha256());
  uint8_t *der = NULL;
  int len = i2d_X509_REQ(request, &der);
  if (len < 0 || len > REQUEST_BYTES_MAX) abort();
  memcpy(ret->der, der, (size_t)len);
  ret->len = (size_t)len;
  OPENSSL_free(der);
  sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
  X509_REQ_free(request);
}

static inline struct span request_span(const struct request *request) {
  return span_of(request->der, request->len);
}

#endif
