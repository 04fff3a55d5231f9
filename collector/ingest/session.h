/* SPDX-License-Identifier: Apache-2.0 */
/* One peer's conversation as a state machine over bytes: no sockets, no clock, no threads.

   Bytes go in through session_receive; what is to be sent collects in `out`; work that may block
   comes out as a job and goes back in through session_finish. */
#ifndef INGEST_SESSION_H
#define INGEST_SESSION_H

#include "common/buf.h"
#include "job.h"
#include "wanted.h"

enum session_state {
  SESSION_HANDSHAKE, /* TLS is not up yet */
  SESSION_HELLO,     /* a board, which has not said hello */
  SESSION_ADMITTING, /* its hello is with a worker */
  SESSION_OPEN,
  SESSION_EXPIRED,   /* a board whose certificate has: one Renew frame and no more */
  SESSION_RENEWING,  /* that frame is with a worker */
  SESSION_ENROLL,    /* a peer without a certificate: one Enroll frame and no more */
  SESSION_ENROLLING, /* that frame is with a worker */
  SESSION_CLOSING,   /* nothing is read any more; what is in `out` is still sent */
};

struct session {
  enum session_state state;
  uint64_t id;
  char board[BOARD_NAME_BYTES]; /* from the certificate, never from a payload; "" for a stranger */
  struct shown_certificate certificate; /* set before session_start, for a board */
  const uint64_t *trust;                /* borrowed: the collector's now; NULL: it has no Renew */
  uint64_t told_trust;
  uint32_t version;                 /* of the protocol, as the board says it */
  const uint32_t *return_within_ms; /* borrowed: what boards are told now; NULL: nothing */
  uint32_t told_return_ms;
  const struct shedding *shedding; /* borrowed; NULL: never */
  struct quotas *quotas;           /* borrowed; NULL: none */
  struct trusted_time *time; /* borrowed; hears what the board's clock says; NULL: nothing does */
  unsigned unheeded;         /* batches told to come later, since UNHEEDED_NS (wall clock) */
  uint64_t unheeded_ns;
  const char *page_url;
  struct figures *figures;
  struct placement placement;
  struct earlier_boot *earlier; /* what PLACEMENT points to, or NULL */
  bool keeps_prefix;            /* the board may refer to it */
  bool is_unmatched;            /* its last batch referred to something else */
  struct prefix
      prefix; /* the last batch that was acked; none while one that refers to it is away */
  struct wanted wanted;
  unsigned jobs_in_flight;
  size_t need_bytes;    /* how many bytes session_receive wants to see next */
  struct buf out;       /* whole frames to be sent */
  enum refusal refusal; /* in SESSION_CLOSING, when was_refused */
  bool was_refused;
  char why[LIMIT_VALUE_BYTES + 1];
};

/* Prepares SESSION.  PAGE_URL and FIGURES are borrowed for as long as it lives. */
void session_init(struct session *session, uint64_t id, const char *page_url,
                  struct figures *figures);
void session_fini(struct session *session);

/* TLS is up: the peer is BOARD, or a stranger (NULL) who may only enroll. */
void session_start(struct session *session, const char *board);

/* Returns whether session_receive may be called now: the state reads, and no more than
   LIMIT_IN_FLIGHT jobs are under way. */
bool session_wants_input(const struct session *session);

/* Looks at STREAM, the first need_bytes of the input, at NOW_NS (wall clock).  Returns how many
   bytes were used up, with RET_JOB the caller's when the frame makes work (else NULL); 0 when
   need_bytes has grown; or -1 when the peer was refused and the session is closing. */
long session_receive(struct session *session, struct span stream, uint64_t now_ns,
                     struct job **ret_job);

/* Takes the outcome of a job of this session, and what the next batch may refer to; the caller
   still frees JOB. */
void session_finish(struct session *session, struct job *job, uint64_t now_ns);

/* Ends the conversation: counts REFUSAL, tells the peer WHY, and closes. */
void session_refuse(struct session *session, enum refusal refusal, const char *why);

/* How long a peer may stay in STATE without a whole frame, in milliseconds. */
unsigned session_deadline_ms(enum session_state state);

#endif
