/* SPDX-License-Identifier: Apache-2.0 */
/* One request on its way from the loop to a worker thread and back, with the data for handlers. */
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

/* An answer's share: a query's whole allocation limit (common/meter.h). */
#define REQUEST_ARENA_BYTES QUERY_BYTES_MAX

struct request {
  struct job job;        /* first: a job is its request */
  struct client *client; /* loop only; NULL if the peer is gone */
  struct jobs *jobs;     /* of the worker that has it; NULL: none; loop only */
  uint64_t requester;    /* for fair queueing: by its token, else its address */
  /* The peer is gone: long work stops. Relaxed, since a short delay is harmless. */
  atomic_bool is_abandoned;
  struct cutoff cutoff; /* of a query: abandonment and its time limit (query_answer_range) */
  struct service *service;
  const struct route *route;
  struct arena arena; /* holds the strings below and the handler's data */
  struct parameters parameters;
  const char *argument;      /* the decoded value of the path's brace */
  const char *if_none_match; /* or NULL */
  const char *visitor;       /* the client, for logs */
  const char *authorization; /* while its token is looked up */
  bool is_sound;             /* meanwhile: valid apart from the token */
  bool is_head, wants_gzip, wants_open_metrics;
  uint64_t started_ns;
  struct answer answer; /* out */

  /* An upload: the handler is called with one piece after the other. */
  uint8_t *piece; /* of CLIENT_PIECE_BYTES, or NULL */
  size_t piece_len;
  uint64_t body_len;  /* Content-Length */
  uint64_t body_done; /* bytes before this piece */
  bool wants_more;    /* out: no answer yet, the next piece is needed */
  bool is_audited;    /* out: the answer, a refusal, is written to the audit log */
};

#endif
