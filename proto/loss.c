/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sums for a run's counters. The list is in loss.h, once for enum and names, so that
   every reason has a name. The store checks the accounting identity of the answers (produced =
   stored + dropped + pending). */
#include "loss.h"

#include <stddef.h>

static const char *const names[LOSS_REASON_COUNT] = {
#define X(reason, name) [LOSS_##reason] = name,
    LOSS_REASONS(X)
#undef X
};

const char *loss_name(unsigned reason) {
  return reason < LOSS_REASON_COUNT ? names[reason] : "unknown";
}

/* Saturates: the counts may come from a peer, and a sum that wraps would hide a loss. */
uint64_t loss_total(const struct counters *counters) {
  uint64_t total = 0;
  for (size_t i = 0; i < LOSS_REASON_COUNT; i++) {
    uint64_t dropped = counters->dropped[i];
    total = dropped > UINT64_MAX - total ? UINT64_MAX : total + dropped;
  }
  return total;
}
