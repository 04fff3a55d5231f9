/* SPDX-License-Identifier: Apache-2.0 */
/* A query grows a dozen arrays and tables in as many folders, each with its own limit. Only the
   allocator can count their sum. */
#include "meter.h"

#include <stdint.h>

static _Thread_local struct {
  ptrdiff_t limit, used, most; /* limit 0: not running; used may be below 0 */
  bool was_refused;
} meter;

void meter_start(size_t limit_bytes) {
  meter.limit = limit_bytes < PTRDIFF_MAX ? (ptrdiff_t)limit_bytes : PTRDIFF_MAX;
  meter.used = meter.most = 0;
  meter.was_refused = false;
}

size_t meter_stop(void) {
  meter.limit = 0;
  return (size_t)meter.most;
}

bool meter_was_refused(void) {
  return meter.was_refused;
}

bool meter_is_running(void) {
  return meter.limit > 0;
}

bool meter_has_room(size_t bytes) {
  if (bytes < METER_SMALL_BYTES) return true;
  ptrdiff_t left = meter.limit - meter.used;
  if (left > 0 && bytes <= (size_t)left) return true;
  meter.was_refused = true;
  return false;
}

void meter_count(ptrdiff_t bytes) {
  meter.used += bytes;
  if (meter.used > meter.most) meter.most = meter.used;
}
