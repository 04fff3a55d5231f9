/* SPDX-License-Identifier: Apache-2.0 */
/* A timer target played by this process: it does the handler's work in slot 0, and a worker drains
   it (kept_fixture.h). Its tests are linked with --wrap=ring_reader_release. */
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

/* Writes one record, or counts it as dropped if the ring is full. */
void produce(struct producer *producer);

/* Every advance of a tail calls this. Its meaning must be journalled before, and the slot's counts
   must have changed already. */
extern bool release_is_slow; /* longer than a last drain may take */
void __real_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);
void __wrap_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);

#endif
