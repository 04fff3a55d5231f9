/* SPDX-License-Identifier: Apache-2.0 */
/* The flash wear of a spool: bytes and syncs of the last 24 hours. */
#ifndef SPOOL_SPOOL_WEAR_H
#define SPOOL_SPOOL_WEAR_H

#include <stdint.h>

enum { SPOOL_WEAR_HOURS = 24 };

struct spool_wear { /* all-zero is empty */
  uint64_t bytes[SPOOL_WEAR_HOURS], syncs[SPOOL_WEAR_HOURS];
  uint64_t hour; /* of the newest entry, since the clock's start */
};

/* Adds bytes and syncs at NOW_NS, monotonic. */
void spool_wear_add(struct spool_wear *wear, uint64_t now_ns, uint64_t bytes, uint64_t syncs);

/* The sums of the hour of NOW_NS and the 23 hours before. */
void spool_wear_day(const struct spool_wear *wear, uint64_t now_ns, uint64_t *ret_bytes,
                    uint64_t *ret_syncs);

#endif
