/* SPDX-License-Identifier: Apache-2.0 */
/* Our SipHash against the vector in its paper and against OpenSSL's. */
#include "store/siphash.h"

#include <openssl/evp.h>
#include <openssl/params.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_vector_of_the_paper_is_met(void **state) {
  (void)state;
  uint8_t key[SIPHASH_KEY_BYTES], input[15];
  for (uint8_t i = 0; i < sizeof key; i++) key[i] = i;
  for (uint8_t i = 0; i < sizeof input; i++) input[i] = i;
  assert_true(siphash(key, span_of(input, sizeof input)) == 0xa129ca6149be45e5ULL);
}

static uint64_t openssl_siphash(const uint8_t *key, const uint8_t *data, size_t len) {
  uint8_t out[8];
  size_t out_len = 0, size = sizeof out;
  EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
  OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("size", &size), OSSL_PARAM_construct_end()};
  assert_int_equal(EVP_MAC_init(context, key, SIPHASH_KEY_BYTES, params), 1);
  assert_int_equal(EVP_MAC_update(context, data, len), 1);
  assert_int_equal(EVP_MAC_final(context, out, &out_len, sizeof out), 1);
  EVP_MAC_CTX_free(context);
  EVP_MAC_free(mac);
  uint64_t word = 0;
  for (unsigned i = 0; i < 8; i++) word |= (uint64_t)out[i] << (8 * i);
  return word;
}

static void every_length_agrees_with_openssl(void **state) {
  (void)state;
  uint8_t key[SIPHASH_KEY_BYTES], data[80];
  srand(1);
  for (size_t len = 0; len <= sizeof data; len++) {
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)rand();
    for (size_t i = 0; i < len; i++) data[i] = (uint8_t)rand();
    assert_true(siphash(key, span_of(data, len)) == openssl_siphash(key, data, len));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_vector_of_the_paper_is_met),
      cmocka_unit_test(every_length_agrees_with_openssl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
