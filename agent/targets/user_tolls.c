/* SPDX-License-Identifier: Apache-2.0 */
/* toll.h limits one target. This limits a user with a hundred bad targets, or a thousand requests
   to the daemon in a second. The drain serves a user's targets with the smallest debt first
   (drain.c). So an honest program beside bad ones of the same user never waits.

   Only debts are stored, so a row without debt can be reused. Users beyond the table share its last
   row: they wait for each other, which is better than no limit. */
#include "user_tolls.h"

#include "common/clock.h"

#include <stddef.h>

static struct user_toll *row_of(struct user_tolls *users, uint32_t uid) {
  struct user_toll *idle = NULL;
  for (unsigned i = 0; i < USER_TOLLS_MAX; i++) {
    struct user_toll *row = &users->rows[i];
    bool is_idle = row->toll.debt_ns == 0;
    if (row->uid == uid && !is_idle) return row;
    if (idle == NULL && is_idle) idle = row;
  }
  if (idle == NULL) return &users->rows[USER_TOLLS_MAX - 1];
  idle->uid = uid;
  return idle;
}

bool user_tolls_may_pass(struct user_tolls *users, uint32_t uid, uint64_t now_ns) {
  for (unsigned i = 0; i < USER_TOLLS_MAX; i++)
    toll_leak(&users->rows[i].toll, now_ns, USER_TOLLS_SHARE_PERCENT);
  return row_of(users, uid)->toll.debt_ns < USER_TOLLS_BURST_MS * NS_PER_MS;
}

void user_tolls_charge(struct user_tolls *users, uint32_t uid, uint64_t spent_ns) {
  row_of(users, uid)->toll.debt_ns += spent_ns;
}
