/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons for rejecting a peer or a message. */
#ifndef INGEST_REFUSAL_H
#define INGEST_REFUSAL_H

#define FIGURES_REFUSALS(X)                                                                  \
  X(CONNECTION_LIMIT, "connection_limit") /* in total, or of one board */                    \
  X(ADDRESS_LIMIT, "address_limit")       /* too many handshakes from one address */         \
  X(OVERLOADED, "overloaded")             /* no memory for another board (shedding.h) */     \
  X(IMPATIENT, "impatient")               /* ignores a retry delay */                        \
  X(TIMEOUT, "timeout")                   /* a state's deadline passed */                    \
  X(SLOW_READER, "slow_reader")           /* does not read its answers */                    \
  X(BAD_FRAME, "bad_frame")               /* unknown frame type */                           \
  X(FRAME_TOO_LONG, "frame_too_long")     /* over the limit of its type */                   \
  X(BAD_MESSAGE, "bad_message")           /* the payload does not decode */                  \
  X(WRONG_ORDER, "wrong_order")           /* a frame not allowed in this state */            \
  X(WRONG_VERSION, "wrong_version")       /* another protocol version */                     \
  X(BAD_NAME, "bad_name")                 /* a certificate without a valid board name */     \
  X(REVOKED, "revoked")                                                                      \
  X(SUPERSEDED, "superseded")           /* the board has used a newer certificate */         \
  X(EXPIRED, "expired")                 /* cannot renew: an old program, or unknown */       \
  X(OUTLIVED, "outlived")               /* the certificate expired during the session */     \
  X(TOKEN, "token")                     /* unknown, expired or used */                       \
  X(REQUEST, "certificate_request")     /* not a request that the CA signs */                \
  X(RENEWALS, "renewals")               /* over the quota of certificates */                 \
  X(BAD_BATCH, "bad_batch")             /* does not inflate or decode, or is inconsistent */ \
  X(IMPLAUSIBLE, "implausible")         /* impossible numbers (plausible.c) */               \
  X(BATCH_TOO_LARGE, "batch_too_large") /* over a limit of limits.h */                       \
  X(QUOTA, "quota")                     /* the board's quota is used up */                   \
  X(DEBUG_PIECE, "debug_piece")         /* an invalid piece of a debug file */               \
  X(DEBUG_UNASKED, "debug_unasked")     /* a piece that was not requested */                 \
  X(STORE, "store")                     /* the store failed: the board retries */            \
  X(MEMORY, "memory")

enum refusal {
#define X(name, text) REFUSAL_##name,
  FIGURES_REFUSALS(X)
#undef X
      REFUSAL_COUNT
};

#endif
