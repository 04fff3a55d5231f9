/* SPDX-License-Identifier: Apache-2.0 */
/* The quota of the daemon's CPU time for all programs of one user. */
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

/* All zero: nothing spent. */
struct user_tolls {
  struct user_toll rows[USER_TOLLS_MAX];
};

/* True if UID's debt at NOW_NS (CLOCK_MONOTONIC) is small enough to do more work. Pure. */
bool user_tolls_may_pass(struct user_tolls *users, uint32_t uid, uint64_t now_ns);
/* Charges SPENT_NS of CPU time to UID. Pure. */
void user_tolls_charge(struct user_tolls *users, uint32_t uid, uint64_t spent_ns);

#endif
