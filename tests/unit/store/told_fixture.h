/* SPDX-License-Identifier: Apache-2.0 */
/* All results of a scan of the store, for comparison with another's. */
#ifndef TESTS_TOLD_FIXTURE_H
#define TESTS_TOLD_FIXTURE_H

#include "day_fixture.h"

#include "view/evidence.h"

enum { ADDRESSES = 0x1100 };

struct told {
  uint64_t blocks, grouped_blocks, count, weight, site_blocks;
  uint64_t by_address[ADDRESSES];
  struct evidence evidence;
  uint64_t longest_ms, marks;
};

/* The results of a scan of STORE for WISH, or for everything; the caller frees them. */
struct told *scan_as(struct store *store, struct store_scan wish);
struct told *tell_all(struct store *store);

/* Fails unless both have the same samples, with equal effective samples to a hundredth. */
void assert_same(const struct told *a, const struct told *b);

#endif
