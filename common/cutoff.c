/* SPDX-License-Identifier: Apache-2.0 */
#include "cutoff.h"

#include "clock.h"

#include <stddef.h>

bool cutoff_is_past(const struct cutoff *cutoff) {
  if (cutoff == NULL) return false;
  if (cutoff->is_abandoned != NULL &&
      atomic_load_explicit(cutoff->is_abandoned, memory_order_relaxed))
    return true;
  return cutoff->deadline_ns != 0 && clock_monotonic_ns() >= cutoff->deadline_ns;
}
