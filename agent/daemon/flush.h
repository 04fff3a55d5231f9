/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: reports whether its samples are acked by the collector. */
#ifndef DAEMON_FLUSH_H
#define DAEMON_FLUSH_H

#include "intake/intake_format.h"
#include "run_note.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct intake_connection;
struct intake_packet;
struct worker;

/* The caller's report about the ended program. */
struct flush_account {
  pid_t pid;
  uint64_t user_ns, system_ns; /* of its tree, as the kernel reported to its parent */
};

/* A caller that waits until the drained samples are acked. */
struct worker_flush {
  struct intake_connection *connection; /* NULL: free */
  uid_t uid;                            /* the caller's */
  uint64_t deadline_ns, settle_ns;      /* CLOCK_MONOTONIC */
  uint64_t seq;                         /* of its last batch */
  bool has_samples;
  uint64_t samples; /* of the caller's run */
  uint32_t note;    /* serial of that run's note */
  char samplers[INTAKE_SAMPLERS_BYTES];
  char unsampled[INTAKE_WHY_BYTES]; /* run_note_unsampled */
  unsigned living;                  /* targets of it that still run */
  struct flush_account account;
  uint64_t
      tables_by_ns; /* if not 0, samples wait for tables until then and the account is not closed */
};

/* Serves FLUSH: drains and spools at once, or once the tables are complete that samples wait for.
   Answers now or in flush_check. */
void flush_on_request(struct worker *worker, struct intake_packet *packet);

/* Answers callers that are done. Call it with every tick and every change of the uplink. Returns
   the number of callers still waiting. */
unsigned flush_check(struct worker *worker);

/* The daemon stops: closes accounts and answers all callers that their samples are spooled. */
void flush_end(struct worker *worker);

/* CONNECTION is closed: closes its account, if open, and frees its place. */
void flush_forget(struct worker *worker, const struct intake_connection *connection);

#endif
