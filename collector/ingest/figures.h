/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of ingest. Each reason for rejecting a peer has its own counter, so that /metrics shows
   why a fleet cannot connect. */
#ifndef INGEST_FIGURES_H
#define INGEST_FIGURES_H

#include "refusal.h"
#include "shedding.h"

#include <stdatomic.h>
#include <stdint.h>

struct buf;

/* Outcomes of TLS handshakes. */
#define FIGURES_HANDSHAKES(X)                                \
  X(OK, "ok")                                                \
  X(ANONYMOUS, "no_certificate") /* done; may only enroll */ \
  X(EXPIRED, "expired")          /* done; may only renew */  \
  X(UNKNOWN_CA, "unknown_ca")                                \
  X(REVOKED, "revoked")                                      \
  X(BAD_CERTIFICATE, "bad_certificate")                      \
  X(CLOSED, "closed") /* the peer closed the connection */   \
  X(TIMEOUT, "timeout")                                      \
  X(CROWDED, "crowded_out") /* evicted to make room */       \
  X(PROTOCOL, "protocol")   /* not TLS, or no common parameters */

enum handshake {
#define X(name, text) HANDSHAKE_##name,
  FIGURES_HANDSHAKES(X)
#undef X
      HANDSHAKE_COUNT
};

#define FIGURES_COUNTERS(X)                                                                       \
  X(connections_total, "counter", "Connections accepted.")                                        \
  X(connections_max, "gauge", "Connections that may be open.")                                    \
  X(connections_open, "gauge", "Connections open now.")                                           \
  X(boards_connected, "gauge", "Sessions of boards open now.")                                    \
  X(board_twice_total, "counter", "Sessions begun while the same board had another one.")         \
  X(accept_failures_total, "counter", "Connections that could not be accepted.")                  \
  X(shedding, "gauge", "1 while boards are told to keep their batches.")                          \
  X(memory_bytes, "gauge", "Memory of this process that is its own.")                             \
  X(memory_limit_bytes, "gauge", "Beyond so much of it boards are told to come later.")           \
  X(stalls_total, "counter", "Times a session waited for room in a queue.")                       \
  X(queue_entries, "gauge", "Jobs waiting for or in the hands of a worker.")                      \
  X(queue_bytes, "gauge", "Bytes of those jobs.")                                                 \
  X(batches_stored_total, "counter", "Batches made durable.")                                     \
  X(batches_duplicate_total, "counter", "Batches that were there already.")                       \
  X(batches_refused_total, "counter", "Batches refused for good.")                                \
  X(batches_failed_total, "counter", "Batches that the store could not keep; to be sent again.")  \
  X(batches_referring_total, "counter", "Batches that came as what differs from the one before.") \
  X(batch_wire_bytes_total, "counter", "Bytes of batches as they came.")                          \
  X(batch_raw_bytes_total, "counter", "Bytes of batches inflated.")                               \
  X(records_total, "counter", "Records in stored batches.")                                       \
  X(notes_failed_total, "counter", "Times a board's books could not be noted.")                   \
  X(enrolled_total, "counter", "Boards enrolled.")                                                \
  X(renewed_total, "counter", "Certificates renewed.")                                            \
  X(debug_asked_total, "counter", "Debug files asked for.")                                       \
  X(debug_pieces_total, "counter", "Pieces of debug files written.")                              \
  X(debug_bytes_total, "counter", "Bytes of debug files written.")                                \
  X(debug_files_total, "counter", "Debug files received whole.")

struct figures {
#define X(name, type, text) atomic_uint_fast64_t name;
  FIGURES_COUNTERS(X)
#undef X
  atomic_uint_fast64_t refused[REFUSAL_COUNT];
  atomic_uint_fast64_t shed[SHED_COUNT]; /* batches deferred */
  atomic_uint_fast64_t handshakes[HANDSHAKE_COUNT];
};

/* Add COUNT to a figure, or subtract it. Any thread. */
static inline void figures_add(atomic_uint_fast64_t *figure, uint64_t count) {
  atomic_fetch_add_explicit(figure, count, memory_order_relaxed);
}

static inline void figures_take(atomic_uint_fast64_t *figure, uint64_t count) {
  atomic_fetch_sub_explicit(figure, count, memory_order_relaxed);
}

static inline void figures_set(atomic_uint_fast64_t *figure, uint64_t value) {
  atomic_store_explicit(figure, value, memory_order_relaxed);
}

static inline uint64_t figures_get(const atomic_uint_fast64_t *figure) {
  return atomic_load_explicit(figure, memory_order_relaxed);
}

const char *figures_refusal_name(enum refusal refusal);

/* Appends all counters in Prometheus text form. Any thread. */
void figures_print(struct figures *figures, struct buf *ret);

#endif
