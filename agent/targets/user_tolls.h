/* SPDX-License-Identifier: Apache-2.0 */
/* What all programs of one user together may cost the daemon, in CPU time. */
#ifndef TARGETS_USER_TOLLS_H
#define TARGETS_USER_TOLLS_H

#include "toll.h"

enum {
  USER_TOLLS_MAX = 64,           /* users in debt at once; more share the last row */
  USER_TOLLS_SHARE_PERCENT = 50, /* of one CPU, in the long run */
  USER_TOLLS_BURST_MS = 1000,    /* a hundred programs may start at once */
};

struct user_toll {
  uint32_t uid;
  struct toll toll;
};

/* All zero: nobody has spent anything. */
struct user_tolls {
  struct user_toll rows[USER_TOLLS_MAX];
};

/* UID owes so little at NOW_NS (CLOCK_MONOTONIC) that more may be done for it.  Pure. */
bool user_tolls_may_pass(struct user_tolls *users, uint32_t uid, uint64_t now_ns);
/* SPENT_NS of CPU time went to UID.  Pure. */
void user_tolls_charge(struct user_tolls *users, uint32_t uid, uint64_t spent_ns);

#endif
