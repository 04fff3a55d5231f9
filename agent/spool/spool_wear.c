/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of one bucket per hour.  An operator compares a day with the flash's endurance; a sum
   since the start would hide that today differs from last month. */
#include "spool_wear.h"

#include "common/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)

static void turn_to(struct spool_wear *wear, uint64_t hour) {
  if (hour - wear->hour > SPOOL_WEAR_HOURS) wear->hour = hour - SPOOL_WEAR_HOURS;
  while (wear->hour < hour) {
    wear->hour++;
    wear->bytes[wear->hour % SPOOL_WEAR_HOURS] = 0;
    wear->syncs[wear->hour % SPOOL_WEAR_HOURS] = 0;
  }
}

void spool_wear_add(struct spool_wear *wear, uint64_t now_ns, uint64_t bytes, uint64_t syncs) {
  turn_to(wear, now_ns / HOUR_NS);
  wear->bytes[wear->hour % SPOOL_WEAR_HOURS] += bytes;
  wear->syncs[wear->hour % SPOOL_WEAR_HOURS] += syncs;
}

void spool_wear_day(const struct spool_wear *wear, uint64_t now_ns, uint64_t *ret_bytes,
                    uint64_t *ret_syncs) {
  struct spool_wear now = *wear;
  uint64_t bytes = 0, syncs = 0;
  turn_to(&now, now_ns / HOUR_NS);
  for (unsigned i = 0; i < SPOOL_WEAR_HOURS; i++) {
    bytes += now.bytes[i];
    syncs += now.syncs[i];
  }
  *ret_bytes = bytes;
  *ret_syncs = syncs;
}
