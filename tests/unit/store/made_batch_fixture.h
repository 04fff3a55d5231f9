/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for a store, made by the real codec. */
#ifndef TESTS_MADE_BATCH_FIXTURE_H
#define TESTS_MADE_BATCH_FIXTURE_H

#include "common/buf.h"
#include "proto/opened_batch.h"
#include "store/store.h"

#define NOON_MS 1767268800000ULL /* 2026-01-01T12:00:00Z */

enum { FIXTURE_NODES = 40, FIXTURE_SAMPLES = 30, FIXTURE_THREADS = 4 };

/* A batch of one target with four threads, two of them with the same name, its bytes and its
   envelope. */
struct made_batch {
  struct batch_module modules[2];
  struct batch_target target;
  struct batch_thread threads[FIXTURE_THREADS];
  struct batch_node nodes[FIXTURE_NODES];
  struct batch_sample samples[FIXTURE_SAMPLES];
  struct batch batch;
  struct envelope envelope;
  struct buf raw, packed;
  struct opened_batch *opened; /* of an odd seq, when sealed: to be handed on, as collectors do */
  uint64_t count, weight;
};

/* Makes batch SEQ of RUN; its text and numbers may be changed until it is sealed. */
void make_batch(struct made_batch *made, uint64_t run, uint64_t seq);
/* Encodes the present content of MADE. */
void seal_batch(struct made_batch *made);
void free_batch(struct made_batch *made);

/* MADE, sealed, as BOARD's for the ten seconds from START_MS; borrows it, but may take its opened
   form. */
struct store_append append_of(struct made_batch *made, const char *board, uint64_t start_ms);

/* Makes, seals and appends one batch. */
enum store_outcome append_new(struct store *store, const char *board, uint64_t run, uint64_t seq,
                              uint64_t start_ms);

#endif
