/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/user_tolls.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BAD = 1000, GOOD = 1001 };

static void what_one_user_owes_no_other_pays(void **state) {
  (void)state;
  struct user_tolls users = {0};
  assert_true(user_tolls_may_pass(&users, BAD, NS_PER_SECOND));
  user_tolls_charge(&users, BAD, USER_TOLLS_BURST_MS * NS_PER_MS);
  assert_false(user_tolls_may_pass(&users, BAD, NS_PER_SECOND));
  assert_true(user_tolls_may_pass(&users, GOOD, NS_PER_SECOND));
}

static void in_the_long_run_a_user_gets_his_share(void **state) {
  (void)state;
  struct user_tolls users = {0};
  uint64_t spent = 0, span = 100 * NS_PER_SECOND;
  for (uint64_t now = NS_PER_SECOND; now < span; now += 20 * NS_PER_MS) {
    if (!user_tolls_may_pass(&users, BAD, now)) continue;
    user_tolls_charge(&users, BAD, 20 * NS_PER_MS);
    spent += 20 * NS_PER_MS;
  }
  uint64_t share = span / 100 * USER_TOLLS_SHARE_PERCENT;
  assert_true(spent <= share + (USER_TOLLS_BURST_MS + 20) * NS_PER_MS);
  assert_true(spent >= share / 100 * 97);
}

static void users_beyond_the_table_have_a_limit_too(void **state) {
  (void)state;
  struct user_tolls users = {0};
  assert_true(user_tolls_may_pass(&users, 0, NS_PER_SECOND));
  for (uint32_t uid = 0; uid < USER_TOLLS_MAX; uid++) user_tolls_charge(&users, uid, NS_PER_MS);
  user_tolls_charge(&users, BAD, USER_TOLLS_BURST_MS * NS_PER_MS);
  assert_false(user_tolls_may_pass(&users, BAD, NS_PER_SECOND));
  assert_true(user_tolls_may_pass(&users, 0, NS_PER_SECOND));
}

static void a_debt_that_has_leaked_away_leaves_its_row(void **state) {
  (void)state;
  struct user_tolls users = {0};
  assert_true(user_tolls_may_pass(&users, 0, NS_PER_SECOND));
  for (uint32_t uid = 0; uid < USER_TOLLS_MAX; uid++) user_tolls_charge(&users, uid, NS_PER_MS);
  assert_true(user_tolls_may_pass(&users, BAD, 2 * NS_PER_SECOND));
  user_tolls_charge(&users, BAD, USER_TOLLS_BURST_MS * NS_PER_MS);
  assert_false(user_tolls_may_pass(&users, BAD, 2 * NS_PER_SECOND));
  assert_true(user_tolls_may_pass(&users, USER_TOLLS_MAX - 1, 2 * NS_PER_SECOND));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_one_user_owes_no_other_pays),
      cmocka_unit_test(in_the_long_run_a_user_gets_his_share),
      cmocka_unit_test(users_beyond_the_table_have_a_limit_too),
      cmocka_unit_test(a_debt_that_has_leaked_away_leaves_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
