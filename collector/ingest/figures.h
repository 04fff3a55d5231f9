/* SPDX-License-Identifier: Apache-2.0 */
/* What the door counts.  Each reason for sending someone away has a number of its own, so that a
   fleet that cannot get in says why on one page. */
#ifndef INGEST_FIGURES_H
#define INGEST_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

struct buf;

#define FIGURES_REFUSALS(X)                                                                     \
  X(CONNECTION_LIMIT, "connection_limit") /* of all, or of one board */                         \
  X(TIMEOUT, "timeout")                   /* a state's deadline passed */                       \
  X(SLOW_READER, "slow_reader")           /* does not read what we answer */                    \
  X(BAD_FRAME, "bad_frame")               /* unknown frame type */                              \
  X(FRAME_TOO_LONG, "frame_too_long")     /* over the limit of its type */                      \
  X(BAD_MESSAGE, "bad_message")           /* the payload does not decode */                     \
  X(WRONG_ORDER, "wrong_order")           /* a frame that this state does not take */           \
  X(WRONG_VERSION, "wrong_version")       /* another protocol version */                        \
  X(BAD_NAME, "bad_name")                 /* a certificate without a usable board name */       \
  X(REVOKED, "revoked")                                                                         \
  X(SUPERSEDED, "superseded")           /* that board has used a newer certificate */           \
  X(EXPIRED, "expired")                 /* and cannot renew: too old a program, or unknown */   \
  X(TOKEN, "token")                     /* unknown, expired or used */                          \
  X(REQUEST, "certificate_request")     /* not a request that we sign */                        \
  X(BAD_BATCH, "bad_batch")             /* does not inflate or decode, or contradicts itself */ \
  X(BATCH_TOO_LARGE, "batch_too_large") /* over a limit of limits.h */                          \
  X(DEBUG_PIECE, "debug_piece")         /* a piece of a debug file that does not fit */         \
  X(DEBUG_UNASKED, "debug_unasked")     /* a piece that this session was not asked for */       \
  X(STORE, "store")                     /* our own disk or database failed; told to retry */    \
  X(MEMORY, "memory")

enum refusal {
#define X(name, text) REFUSAL_##name,
  FIGURES_REFUSALS(X)
#undef X
      REFUSAL_COUNT
};

/* How a TLS handshake ended. */
#define FIGURES_HANDSHAKES(X)                                           \
  X(OK, "ok")                                                           \
  X(ANONYMOUS, "no_certificate") /* done, and allowed to enroll only */ \
  X(EXPIRED, "expired")          /* done, and allowed to renew only */  \
  X(NOT_YET_VALID, "not_yet_valid")                                     \
  X(UNKNOWN_CA, "unknown_ca")                                           \
  X(REVOKED, "revoked")                                                 \
  X(BAD_CERTIFICATE, "bad_certificate")                                 \
  X(CLOSED, "closed") /* the peer went away */                          \
  X(TIMEOUT, "timeout")                                                 \
  X(PROTOCOL, "protocol") /* not TLS, or nothing in common */

enum handshake {
#define X(name, text) HANDSHAKE_##name,
  FIGURES_HANDSHAKES(X)
#undef X
      HANDSHAKE_COUNT
};

#define FIGURES_COUNTERS(X)                                                                      \
  X(connections_total, "counter", "Connections accepted.")                                       \
  X(connections_open, "gauge", "Connections open now.")                                          \
  X(boards_connected, "gauge", "Sessions of boards open now.")                                   \
  X(board_twice_total, "counter", "Sessions begun while the same board had another one.")        \
  X(accept_failures_total, "counter", "Connections that could not be accepted.")                 \
  X(stalls_total, "counter", "Times a session waited for room in a queue.")                      \
  X(queue_entries, "gauge", "Jobs waiting for or in the hands of a worker.")                     \
  X(queue_bytes, "gauge", "Bytes of those jobs.")                                                \
  X(batches_stored_total, "counter", "Batches made durable.")                                    \
  X(batches_duplicate_total, "counter", "Batches that were there already.")                      \
  X(batches_refused_total, "counter", "Batches refused for good.")                               \
  X(batches_failed_total, "counter", "Batches that the store could not keep; to be sent again.") \
  X(batch_wire_bytes_total, "counter", "Bytes of batches as they came.")                         \
  X(batch_raw_bytes_total, "counter", "Bytes of batches inflated.")                              \
  X(records_total, "counter", "Records in stored batches.")                                      \
  X(notes_failed_total, "counter", "Times a board's books could not be noted.")                  \
  X(enrolled_total, "counter", "Boards enrolled.")                                               \
  X(renewed_total, "counter", "Certificates renewed.")                                           \
  X(debug_asked_total, "counter", "Debug files asked for.")                                      \
  X(debug_pieces_total, "counter", "Pieces of debug files written.")                             \
  X(debug_bytes_total, "counter", "Bytes of debug files written.")                               \
  X(debug_files_total, "counter", "Debug files received whole.")

struct figures {
#define X(name, type, text) atomic_uint_fast64_t name;
  FIGURES_COUNTERS(X)
#undef X
  atomic_uint_fast64_t refused[REFUSAL_COUNT];
  atomic_uint_fast64_t handshakes[HANDSHAKE_COUNT];
};

/* Adds COUNT to, or takes it from, one figure.  Any thread. */
static inline void figures_add(atomic_uint_fast64_t *figure, uint64_t count) {
  atomic_fetch_add_explicit(figure, count, memory_order_relaxed);
}

static inline void figures_take(atomic_uint_fast64_t *figure, uint64_t count) {
  atomic_fetch_sub_explicit(figure, count, memory_order_relaxed);
}

const char *figures_refusal_name(enum refusal refusal);

/* Appends all of it in Prometheus text form.  Any thread. */
void figures_print(struct figures *figures, struct buf *ret);

#endif
