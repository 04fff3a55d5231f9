/* SPDX-License-Identifier: Apache-2.0 */
/* One decoded frame on its way from a session to a worker and back with the outcome.  It owns what
   it points to, and refers to its session by number only: the session may be gone when it returns.
 */
#ifndef INGEST_JOB_H
#define INGEST_JOB_H

#include "common/arena.h"
#include "figures.h"
#include "identity/board_name.h"
#include "placement.h"
#include "proto/messages.h"
#include "proto/prefix.h"

struct buf;
struct revocations;

/* What a board's certificate says beside its name; all zero for a stranger. */
struct shown_certificate {
  int64_t signed_s, until_s; /* when it was signed, and the last second of it; 0: not known */
  bool has_expired;
  uint8_t key[32]; /* SHA-256 of its public key, where it has expired */
  uint64_t root;   /* certificate_id of the root that vouches for it */
};

enum job_kind {
  JOB_HELLO,
  JOB_BATCH,
  JOB_PING,
  JOB_ENROLL,
  JOB_RENEW,
  JOB_REVOCATIONS, /* of no session: read the revoked boards and the CA's files again */
  JOB_DEBUG_CHUNK, /* this and the next are the debug worker's */
  JOB_DEBUG_END,
};

enum job_outcome {
  JOB_DONE,
  JOB_REFUSED, /* for good: REFUSAL and WHY say so */
  JOB_FAILED,  /* our fault: worth another try */
};

struct job {
  struct job *next;
  enum job_kind kind;
  uint64_t session;
  char board[BOARD_NAME_BYTES];
  struct shown_certificate certificate;
  struct placement placement;
  uint64_t received_ns; /* wall clock */
  struct arena arena;   /* holds MESSAGE's strings and spans, and WANTED */
  struct message message;
  size_t queued_bytes; /* the dispatch's */

  enum job_outcome outcome;
  enum refusal refusal;
  char why[LIMIT_VALUE_BYTES + 1];

  uint64_t last_seq;                 /* hello */
  bool is_kept;                      /* batch: PREFIX shall be its own bytes once it is stored */
  struct prefix prefix;              /* batch: what it refers to */
  const struct debug_wanted *wanted; /* hello, batch, ping: modules to ask the board for */
  uint32_t wanted_count;             /* at most LIMIT_DEBUG_WANTED */
  bool is_whole;                     /* debug chunk: it was the last one */
  struct enrolled enrolled;          /* enroll: in ARENA */
  struct renewed renewed;            /* renew: in ARENA */
  struct revocations *revocations;   /* revocations */
};

/* Makes an empty job, or NULL. */
struct job *job_new(enum job_kind kind);
void job_free(struct job *job);

/* Copies BYTES into the job's arena; empty when it is full. */
struct span job_keep(struct job *job, const struct buf *bytes);

/* What JOB counts for in a bounded queue. */
size_t job_bytes(const struct job *job);

/* Notes why JOB comes back without success.  Any worker. */
void job_refuse(struct job *job, enum refusal refusal, const char *why);
void job_fail(struct job *job, enum refusal refusal, const char *why);

#endif
