/* SPDX-License-Identifier: Apache-2.0 */
/* One decoded frame on its way from a session to a worker and back with the outcome. It owns the
   data it points to, and refers to its session by number only: the session may have ended when it
   returns. */
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

/* Data of a board's certificate other than its name; all-zero if unauthenticated. */
struct shown_certificate {
  int64_t signed_s, until_s; /* when it was signed, and its last second of validity; 0: unknown */
  bool has_expired;
  bool is_used;    /* the session was admitted by it */
  uint64_t id;     /* its certificate_id */
  uint8_t key[32]; /* SHA-256 of its public key, if it has expired */
  uint64_t root;   /* certificate_id of the root that signed it */
};

enum job_kind {
  JOB_HELLO,
  JOB_BATCH,
  JOB_PING,
  JOB_ENROLL,
  JOB_RENEW,
  JOB_REVOCATIONS, /* without a session: read the revoked boards and the CA's files again */
  JOB_DEBUG_CHUNK, /* this and the next are for the debug worker */
  JOB_DEBUG_END,
};

enum job_outcome {
  JOB_DONE,
  JOB_REFUSED, /* permanently: see REFUSAL and WHY */
  JOB_FAILED,  /* the collector failed: a retry may succeed */
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
  size_t queued_bytes; /* private to the dispatch */

  enum job_outcome outcome;
  enum refusal refusal;
  char why[LIMIT_VALUE_BYTES + 1];

  uint64_t last_seq;                 /* hello */
  bool is_kept;                      /* batch: set PREFIX to this batch's bytes once it is stored */
  struct prefix prefix;              /* batch: the batch that it refers to */
  const struct debug_wanted *wanted; /* hello, batch, ping: modules to request from the board */
  uint32_t wanted_count;             /* at most LIMIT_DEBUG_WANTED */
  bool is_whole;                     /* debug chunk: the last one */
  struct enrolled enrolled;          /* enroll: in ARENA */
  struct renewed renewed;            /* renew: in ARENA */
  struct revocations *revocations;   /* revocations */
};

/* Returns an empty job, or NULL if memory is out. */
struct job *job_new(enum job_kind kind);
void job_free(struct job *job);

/* Copies BYTES into the job's arena. Returns an empty span if the arena is full. */
struct span job_keep(struct job *job, const struct buf *bytes);

/* Returns the bytes that JOB counts for in a bounded queue. */
size_t job_bytes(const struct job *job);

/* Set JOB's outcome to JOB_REFUSED or JOB_FAILED, with the reason. Any worker. */
void job_refuse(struct job *job, enum refusal refusal, const char *why);
void job_fail(struct job *job, enum refusal refusal, const char *why);

#endif
