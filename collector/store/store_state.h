/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the store's own files. */
#ifndef STORE_STORE_STATE_H
#define STORE_STORE_STATE_H

#include "node_key.h"

#include <pthread.h>
#include <stdatomic.h>

struct landing;
struct settle;

struct store {
  char *dir;
  uint8_t key[NODE_KEY_BYTES];
  struct landing *landing;
  struct settle *settle;
  pthread_mutex_t rolling;                               /* one roll-up at a time */
  _Atomic uint32_t written_day;                          /* of the last batch's arrival: relaxed */
  _Atomic uint64_t roll_rounds, roll_failures;           /* counters that other threads read:
                                                            relaxed */
  uint64_t set_aside_at_start;                           /* damaged day files */
  _Atomic uint32_t misdated, misdated_from, misdated_to; /* store_misdated: relaxed */
  /* Reads without data that is not stored or not settled; of these, reads behind a backlog and
     on a full disk; reads that lack lost data. Relaxed. */
  _Atomic uint64_t stale_reads, late_reads, full_reads, incomplete_reads;
};

#endif
