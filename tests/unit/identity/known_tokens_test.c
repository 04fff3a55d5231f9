/* SPDX-License-Identifier: Apache-2.0 */
/* The token cache is bounded, and never older than the last answer of the database. */
#include "identity/known_tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct known_tokens known;

static int start(void **state) {
  (void)state;
  memset(&known, 0, sizeof known);
  return pthread_mutex_init(&known.lock, NULL);
}

static struct known_token reader(uint16_t number) {
  struct known_token token = {.role = ROLE_READ, .expires_ms = 9000 * 1000};
  memcpy(token.hash, &number, sizeof number);
  return token;
}

static enum role use(uint16_t number, int64_t now_s) {
  struct known_token token = reader(number);
  return known_tokens_use(&known, token.hash, now_s * 1000);
}

static void the_one_used_longest_ago_makes_room(void **state) {
  (void)state;
  for (uint16_t i = 0; i <= KNOWN_TOKENS_MAX; i++) {
    struct known_token token = reader(i);
    known_tokens_put(&known, &token);
    assert_int_equal(use(i, i == 7 ? 100 : 200 + i), ROLE_READ);
  }
  assert_int_equal(known.count, KNOWN_TOKENS_MAX);
  assert_int_equal(use(7, 2000), ROLE_NONE);
  assert_int_equal(use(6, 2000), ROLE_READ);
  assert_int_equal(use(KNOWN_TOKENS_MAX, 2000), ROLE_READ);
  assert_int_equal(use(6, 9000), ROLE_NONE); /* its end */
}

static void a_use_is_kept_until_it_is_written_and_is_noted_once_a_minute(void **state) {
  (void)state;
  static struct known_token rows[KNOWN_TOKENS_MAX];
  struct known_token token = reader(1);
  known_tokens_put(&known, &token);
  use(1, 100);
  use(1, 159);
  known_tokens_put(&known, &token); /* read before that use was written */
  assert_int_equal(known_tokens_copy(&known, rows), 1);
  assert_int_equal(rows[0].used_s, 100);
  assert_int_equal(rows[0].written_s, 0);
  use(1, 160);
  token.written_s = 100;
  known_tokens_put(&known, &token);
  known_tokens_copy(&known, rows);
  assert_int_equal(rows[0].used_s, 160);
  assert_int_equal(rows[0].written_s, 100);
}

static void what_is_forgotten_is_that_token_and_no_other(void **state) {
  (void)state;
  for (uint16_t i = 0; i < 3; i++) {
    struct known_token token = reader(i);
    known_tokens_put(&known, &token);
  }
  struct known_token gone = reader(0), unknown = reader(9);
  known_tokens_forget(&known, gone.hash);
  known_tokens_forget(&known, unknown.hash);
  assert_int_equal(use(0, 1), ROLE_NONE);
  assert_int_equal(use(1, 1), ROLE_READ);
  assert_int_equal(use(2, 1), ROLE_READ);
  assert_int_equal(known.count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_one_used_longest_ago_makes_room, start),
      cmocka_unit_test_setup(a_use_is_kept_until_it_is_written_and_is_noted_once_a_minute, start),
      cmocka_unit_test_setup(what_is_forgotten_is_that_token_and_no_other, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
