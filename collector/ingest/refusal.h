/* SPDX-License-Identifier: Apache-2.0 */
/* Why somebody, or something, was sent away. */
#ifndef INGEST_REFUSAL_H
#define INGEST_REFUSAL_H

#define FIGURES_REFUSALS(X)                                                                      \
  X(CONNECTION_LIMIT, "connection_limit") /* of all, or of one board */                          \
  X(ADDRESS_LIMIT, "address_limit")       /* too many handshakes under way from one address */   \
  X(OVERLOADED, "overloaded")             /* no memory for another board (shedding.h) */         \
  X(IMPATIENT, "impatient")               /* sends batches although it was told to wait */       \
  X(TIMEOUT, "timeout")                   /* a state's deadline passed */                        \
  X(SLOW_READER, "slow_reader")           /* does not read what we answer */                     \
  X(BAD_FRAME, "bad_frame")               /* unknown frame type */                               \
  X(FRAME_TOO_LONG, "frame_too_long")     /* over the limit of its type */                       \
  X(BAD_MESSAGE, "bad_message")           /* the payload does not decode */                      \
  X(WRONG_ORDER, "wrong_order")           /* a frame that this state does not take */            \
  X(WRONG_VERSION, "wrong_version")       /* another protocol version */                         \
  X(BAD_NAME, "bad_name")                 /* a certificate without a usable board name */        \
  X(REVOKED, "revoked")                                                                          \
  X(SUPERSEDED, "superseded")           /* that board has used a newer certificate */            \
  X(EXPIRED, "expired")                 /* and cannot renew: too old a program, or unknown */    \
  X(OUTLIVED, "outlived")               /* a session that went on beyond its certificate */      \
  X(TOKEN, "token")                     /* unknown, expired or used */                           \
  X(REQUEST, "certificate_request")     /* not a request that we sign */                         \
  X(RENEWALS, "renewals")               /* more certificates than a board has use for */         \
  X(BAD_BATCH, "bad_batch")             /* does not inflate or decode, or contradicts itself */  \
  X(IMPLAUSIBLE, "implausible")         /* says what cannot be (plausible.h) */                  \
  X(BATCH_TOO_LARGE, "batch_too_large") /* over a limit of limits.h */                           \
  X(QUOTA, "quota")                     /* of that board is used up, and the batch needs more */ \
  X(DEBUG_PIECE, "debug_piece")         /* a piece of a debug file that does not fit */          \
  X(DEBUG_UNASKED, "debug_unasked")     /* a piece that this session was not asked for */        \
  X(STORE, "store")                     /* our own disk or database failed; told to retry */     \
  X(MEMORY, "memory")

enum refusal {
#define X(name, text) REFUSAL_##name,
  FIGURES_REFUSALS(X)
#undef X
      REFUSAL_COUNT
};

#endif
