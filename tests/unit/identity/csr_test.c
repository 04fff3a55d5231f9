/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted request gives a public key or a reason, and nothing else. */
#include "identity/csr.h"

#include "proto/limits.h"
#include "request_fixture.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct request request;
static char why[256];

static void assert_refused(struct span der, const char *reason) {
  EVP_PKEY *key = NULL;
  assert_int_equal(csr_key(der, &key, why, sizeof why), -EBADMSG);
  assert_string_equal(why, reason);
  assert_null(key);
}

static void a_request_signed_by_its_own_p256_key_gives_that_key(void **state) {
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256"), *found = NULL;
  request_make(key, key, &request);
  assert_int_equal(csr_key(request_span(&request), &found, why, sizeof why), 0);
  assert_int_equal(EVP_PKEY_eq(key, found), 1);
  EVP_PKEY_free(found);
  EVP_PKEY_free(key);
}

static void a_request_signed_by_another_key_is_refused(void **state) {
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256");
  request_make(key, other, &request);
  assert_refused(request_span(&request), "request is not signed by its own key");
  EVP_PKEY_free(other);
  EVP_PKEY_free(key);
}

static void keys_of_other_kinds_are_refused(void **state) {
  (void)state;
  EVP_PKEY *keys[] = {EVP_EC_gen("P-384"), EVP_EC_gen("secp224r1"), EVP_RSA_gen(1024)};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    assert_non_null(keys[i]);
    request_make(keys[i], keys[i], &request);
    assert_refused(request_span(&request), "key is not on the curve P-256");
    EVP_PKEY_free(keys[i]);
  }
}

static void a_request_of_any_wrong_length_is_refused(void **state) {
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  EVP_PKEY_free(key);
  assert_refused(span_of(NULL, 0), "request is not DER of PKCS#10");
  for (size_t len = 0; len < request.len; len++)
    assert_refused(span_of(request.der, len), "request is not DER of PKCS#10");
  assert_refused(span_of(request.der, request.len + 1), "bytes follow the request");
  assert_refused(span_of(request.der, LIMIT_CSR_BYTES + 1),
                 "request is longer than LIMIT_CSR_BYTES");
}

/* Every byte counts: the signature covers the signed part and is itself checked. */
static void a_request_with_one_byte_changed_never_gives_another_key(void **state) {
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  for (size_t at = 0; at < request.len; at++) {
    EVP_PKEY *found = NULL;
    request.der[at] ^= 0x41;
    if (csr_key(request_span(&request), &found, why, sizeof why) == 0)
      assert_int_equal(EVP_PKEY_eq(key, found), 1);
    EVP_PKEY_free(found);
    request.der[at] ^= 0x41;
  }
  EVP_PKEY_free(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_signed_by_its_own_p256_key_gives_that_key),
      cmocka_unit_test(a_request_signed_by_another_key_is_refused),
      cmocka_unit_test(keys_of_other_kinds_are_refused),
      cmocka_unit_test(a_request_of_any_wrong_length_is_refused),
      cmocka_unit_test(a_request_with_one_byte_changed_never_gives_another_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
