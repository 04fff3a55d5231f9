/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an untrusted certificate request.

   A request may ask for anything: other names, CA:TRUE, a key that the sender does not hold. All of
   that is ignored. The signature proves that the sender holds the private key. The point on the
   curve is copied into a fresh key, which drops curve parameters spelled out by the sender. Only
   P-256 is accepted, because every board supports it, and a single kind of key leaves no weaker
   kind to choose. */
#include "csr.h"

#include "proto/limits.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <stdio.h>

enum { POINT_BYTES_MAX = 65, GROUP_NAME_BYTES = 64 }; /* 0x04, x, y */

static int refuse(char *why, size_t why_len, const char *reason) {
  snprintf(why, why_len, "%s", reason);
  ERR_clear_error();
  return -EBADMSG;
}

static bool is_p256(const EVP_PKEY *key) {
  char group[GROUP_NAME_BYTES] = "";
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
         strcmp(group, SN_X9_62_prime256v1) == 0;
}

static EVP_PKEY *key_from_point(struct span point) {
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)SN_X9_62_prime256v1, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point.data, point.len),
      OSSL_PARAM_construct_end(),
  };
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  ERR_clear_error();
  return key;
}

static EVP_PKEY *copy_point(const EVP_PKEY *key) {
  uint8_t point[POINT_BYTES_MAX];
  size_t len = 0;
  if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len) != 1)
    return NULL;
  return key_from_point(span_of(point, len));
}

static int check_request(X509_REQ *request, EVP_PKEY **ret_key, char *why, size_t why_len) {
  EVP_PKEY *claimed = X509_REQ_get0_pubkey(request);
  if (claimed == NULL) return refuse(why, why_len, "request carries no usable public key");
  if (!is_p256(claimed)) return refuse(why, why_len, "key is not on the curve P-256");
  if (X509_REQ_verify(request, claimed) != 1)
    return refuse(why, why_len, "request is not signed by its own key");
  EVP_PKEY *key = copy_point(claimed);
  if (key == NULL) return refuse(why, why_len, "public key is not a point of P-256");
  *ret_key = key;
  return 0;
}

int csr_key(struct span der, EVP_PKEY **ret_key, char *why, size_t why_len) {
  if (der.len > LIMIT_CSR_BYTES)
    return refuse(why, why_len, "request is longer than LIMIT_CSR_BYTES");
  const unsigned char *at = der.data;
  X509_REQ *request = der.len > 0 ? d2i_X509_REQ(NULL, &at, (long)der.len) : NULL;
  if (request == NULL) return refuse(why, why_len, "request is not DER of PKCS#10");
  int result = at == der.data + der.len ? check_request(request, ret_key, why, why_len)
                                        : refuse(why, why_len, "bytes follow the request");
  X509_REQ_free(request);
  return result;
}
