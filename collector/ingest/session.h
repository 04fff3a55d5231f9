/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's protocol state machine: no sockets, no clock, no threads.

   Bytes are passed to session_receive; frames to send collect in `out`; work that may block is
   returned as a job and passed back to session_finish. */
#ifndef INGEST_SESSION_H
#define INGEST_SESSION_H

#include "common/buf.h"
#include "job.h"
#include "wanted.h"

enum session_state {
  SESSION_HANDSHAKE, /* TLS is not established yet */
  SESSION_HELLO,     /* a board that has not sent Hello */
  SESSION_ADMITTING, /* a worker has its Hello */
  SESSION_OPEN,
  SESSION_EXPIRED,   /* a board with an expired certificate: may send one Renew frame */
  SESSION_RENEWING,  /* a worker has that frame */
  SESSION_ENROLL,    /* a peer without a certificate: may send one Enroll frame */
  SESSION_ENROLLING, /* a worker has that frame */
  SESSION_CLOSING,   /* nothing is read any more; `out` is still sent */
};

struct session {
  enum session_state state;
  uint64_t id;
  char board[BOARD_NAME_BYTES];         /* from the certificate, never from a payload; "": none */
  struct shown_certificate certificate; /* of a board, set before session_start */
  const uint64_t *trust;                /* borrowed: the collector's now; or NULL */
  uint64_t told_trust;
  bool is_told_ahead;               /* that its certificate was signed after the present time */
  uint32_t version;                 /* the board's protocol version */
  const uint32_t *return_within_ms; /* borrowed: the current reconnect spread; NULL: none */
  uint32_t told_return_ms;
  const struct shedding *shedding; /* borrowed; NULL: no shedding */
  struct quotas *quotas;           /* borrowed; NULL: none */
  struct trusted_time *time;       /* borrowed; receives the board's clock; or NULL */
  unsigned unheeded;               /* batches deferred since UNHEEDED_NS (wall clock) */
  uint64_t unheeded_ns;
  const char *page_url;
  struct figures *figures;
  struct placement placement;
  struct earlier_boot *earlier; /* the array of PLACEMENT, or NULL */
  bool keeps_prefix;            /* the board may refer to the prefix */
  bool is_unmatched;            /* its last batch referred to another batch */
  struct prefix prefix; /* the last acked batch; none while a batch that refers to it is away */
  struct wanted wanted;
  unsigned jobs_in_flight;
  size_t need_bytes;    /* input bytes that session_receive needs next */
  struct buf out;       /* whole frames to send */
  enum refusal refusal; /* in SESSION_CLOSING, if was_refused */
  bool was_refused;
  char why[LIMIT_VALUE_BYTES + 1];
};

/* Initializes SESSION. PAGE_URL and FIGURES are borrowed for its lifetime. */
void session_init(struct session *session, uint64_t id, const char *page_url,
                  struct figures *figures);
void session_fini(struct session *session);

/* TLS is established: the peer is BOARD, or unauthenticated (NULL) and may only enroll. */
void session_start(struct session *session, const char *board);

/* Returns whether session_receive may be called now: the state accepts input, and fewer than
   LIMIT_IN_FLIGHT jobs are pending. */
bool session_wants_input(const struct session *session);

/* Processes STREAM, the first need_bytes of the input, at NOW_NS (wall clock). Returns the number
   of bytes consumed; 0 if need_bytes has grown; or -1 if the peer was refused and the session is
   closing. RET_JOB is set if the frame needs a worker, and owned by the caller; else it is NULL. */
long session_receive(struct session *session, struct span stream, uint64_t now_ns,
                     struct job **ret_job);

/* Takes the outcome of JOB, and its prefix for the next batch. The caller still frees JOB. */
void session_finish(struct session *session, struct job *job, uint64_t now_ns);

/* Ends the session: counts REFUSAL, sends WHY to the peer, and closes. */
void session_refuse(struct session *session, enum refusal refusal, const char *why);

/* Returns how long a peer may stay in STATE without a whole frame, in milliseconds. */
unsigned session_deadline_ms(enum session_state state);

#endif
