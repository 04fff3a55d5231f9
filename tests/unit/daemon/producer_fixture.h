/* SPDX-License-Identifier: Apache-2.0 */
/* A timer target that this process plays: what the preload's handler would do in slot 0, and a
   worker that drains it (kept_fixture.h).  Its tests are linked with --wrap=ring_reader_release. */
#ifndef TESTS_PRODUCER_FIXTURE_H
#define TESTS_PRODUCER_FIXTURE_H

#include "kept_fixture.h"

enum { RECORD_BYTES = 24, PRODUCER_UNIT_NS = 10000000 };

struct producer {
  struct ring_reader ring;
  struct ring_slot *slot;
  uint64_t written, full;
};

struct bench {
  struct kept_pipeline p;
  struct producer producer;
};

/* Makes the target; bench_make_open also starts its worker. */
int bench_make(void **state);
int bench_make_open(void **state);
int bench_unmake(void **state);

/* Writes one record, or counts it as one that found no room. */
void produce(struct producer *producer);

/* Every move of a tail passes here: what it will mean must be written down by then, and the slot's
   counts must have moved already. */
extern bool release_is_slow; /* longer than a last drain may take */
void __real_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);
void __wrap_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);

#endif
