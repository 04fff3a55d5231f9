/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a token is fixed, because the board's side cuts it by length. */
#include "identity/token.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t random_bytes[TOKEN_RANDOM_BYTES] = {0xfb, 0xff, 0xfe, 1, 2, 3};
static const uint8_t fingerprint[TOKEN_FINGERPRINT_BYTES] = {0xff, 0xff, 0xff, 0xff, [31] = 0x07};

static void a_token_is_its_secret_then_its_fingerprint(void **state) {
  (void)state;
  char text[TOKEN_TEXT_BYTES];
  token_print(random_bytes, fingerprint, text);
  assert_string_equal(text, "fpt_-__-AQIDAAAAAAAAAAAAAAAAAAAAAAAA_"
                            "_____wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAc");
  token_print(random_bytes, NULL, text);
  assert_string_equal(text, "fpt_-__-AQIDAAAAAAAAAAAAAAAAAAAAAAAA");
}

static void the_hash_is_of_the_secret_alone(void **state) {
  (void)state;
  char whole[TOKEN_TEXT_BYTES], secret[TOKEN_TEXT_BYTES];
  uint8_t a[TOKEN_HASH_BYTES], b[TOKEN_HASH_BYTES];
  token_print(random_bytes, fingerprint, whole);
  token_print(random_bytes, NULL, secret);
  assert_int_equal(token_hash(whole, a), 0);
  assert_int_equal(token_hash(secret, b), 0);
  assert_memory_equal(a, b, sizeof a);
  secret[10] = secret[10] == 'x' ? 'y' : 'x';
  assert_int_equal(token_hash(secret, b), 0);
  assert_memory_not_equal(a, b, sizeof a);
}

static void text_of_another_form_is_no_token(void **state) {
  (void)state;
  char text[2 * TOKEN_TEXT_BYTES];
  uint8_t hash[TOKEN_HASH_BYTES];
  assert_int_equal(token_hash("", hash), -EBADMSG);
  assert_int_equal(token_hash("fpt_", hash), -EBADMSG);
  token_print(random_bytes, fingerprint, text);
  for (size_t len = 0; len < strlen(text); len++) {
    char kept = text[len];
    text[len] = 0;
    assert_int_equal(token_hash(text, hash), len == TOKEN_SECRET_CHARS ? 0 : -EBADMSG);
    text[len] = kept;
    text[len] = '+';
    assert_int_equal(token_hash(text, hash), -EBADMSG);
    text[len] = kept;
  }
  memcpy(text + strlen(text), "A", 2);
  assert_int_equal(token_hash(text, hash), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_token_is_its_secret_then_its_fingerprint),
      cmocka_unit_test(the_hash_is_of_the_secret_alone),
      cmocka_unit_test(text_of_another_form_is_no_token),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
