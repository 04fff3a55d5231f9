/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before the collector is tried again. */
#ifndef UPLINK_RETRY_H
#define UPLINK_RETRY_H

#include <stdint.h>

/* All zero: nothing has failed yet. */
struct retry {
  unsigned failures; /* since the last success */
};

/* One more attempt has failed.  Returns how many ns to wait: random, from 50 ms to the lesser of
   2^n s and 60 s after n failures before this one. */
uint64_t retry_next_ns(struct retry *retry);

/* It worked. */
void retry_reset(struct retry *retry);

#endif
