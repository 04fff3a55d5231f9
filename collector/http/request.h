/* SPDX-License-Identifier: Apache-2.0 */
/* One request on its way from the loop to a worker thread and back, and what handlers may use. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "answer.h"
#include "common/arena.h"
#include "common/cutoff.h"
#include "jobs.h"
#include "parameters.h"
#include "service.h"

#include <stdatomic.h>

struct client;
struct route;

/* What an answer may have of it: all that a query may allocate (common/meter.h). */
#define REQUEST_ARENA_BYTES QUERY_BYTES_MAX

struct request {
  struct job job;        /* first: a job is its request */
  struct client *client; /* loop only; NULL when nobody waits any more */
  struct jobs *jobs;     /* the worker's that has it; NULL: none; loop only */
  uint64_t requester;    /* whose share of the workers it takes: its token's, else its address's */
  /* Nobody waits any more: what takes long gives up.  Relaxed: a moment later will do. */
  atomic_bool is_abandoned;
  struct cutoff cutoff; /* of a query: that, and its time limit (query_answer_range) */
  struct service *service;
  const struct route *route;
  struct arena arena; /* holds the strings below and all that a handler needs */
  struct parameters parameters;
  const char *argument;      /* what stands for the brace of the path, decoded */
  const char *if_none_match; /* or NULL */
  const char *visitor;       /* whose it is, for a log */
  const char *authorization; /* while its token is looked up */
  bool is_sound;             /* the same: beside that nothing is wrong with it */
  bool is_head, wants_gzip, wants_open_metrics;
  uint64_t started_ns;
  struct answer answer; /* out */

  /* An upload: one piece after the other is put before the same handler. */
  uint8_t *piece; /* of CLIENT_PIECE_BYTES, or NULL */
  size_t piece_len;
  uint64_t body_len;  /* Content-Length */
  uint64_t body_done; /* bytes before this piece */
  bool wants_more;    /* out: no answer yet, the next piece please */
  bool is_audited;    /* out: the answer, a refusal, is worth a line in the audit log */
};

#endif
