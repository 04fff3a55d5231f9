/* SPDX-License-Identifier: Apache-2.0 */
/* The resolutions (tiers) of stored samples, and the kinds of day files. */
#ifndef STORE_TIER_H
#define STORE_TIER_H

#include <stdint.h>

/* A block of a tier covers the tier's length, beginning at a multiple of it. A block of TIER_WINDOW
   has the length that the board chose. */
enum tier { TIER_WINDOW, TIER_MINUTES, TIER_HOUR, TIER_DAY };

enum {
  TIER_MINUTES_MS = 5 * 60 * 1000,
  TIER_HOUR_MS = 3600 * 1000,
  TIER_DAY_MS = 24 * TIER_HOUR_MS,
  TIER_MINUTES_A_DAY = TIER_DAY_MS / TIER_MINUTES_MS,
  TIER_HOURS_A_DAY = 24,
  TIER_MINUTES_AN_HOUR = TIER_MINUTES_A_DAY / TIER_HOURS_A_DAY,
};

/* A day's files, the finest first. Each is self-contained: it has its own node table, so it can be
   deleted while the coarser files stay. */
enum day_kind {
  DAY_WINDOWS, /* day-*.db: windows as the boards sent them, and losses */
  DAY_MINUTES, /* minutes-*.db: five minutes */
  DAY_HOURS,   /* hours-*.db: hours and the day, also merged over boards; and losses by the hour */
  DAY_KINDS
};

static inline uint64_t tier_length_ms(enum tier tier) {
  static const uint64_t lengths[] = {0, TIER_MINUTES_MS, TIER_HOUR_MS, TIER_DAY_MS};
  return lengths[tier];
}

#endif
