/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: is what it gave with the collector? */
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

/* What the caller says of the program that has ended. */
struct flush_account {
  pid_t pid;
  uint64_t user_ns, system_ns; /* of its tree, as the kernel told its parent */
};

/* A caller that waits until what was drained is with the collector. */
struct worker_flush {
  struct intake_connection *connection; /* NULL: free */
  uid_t uid;                            /* the caller's */
  uint64_t deadline_ns, settle_ns;      /* CLOCK_MONOTONIC */
  uint64_t seq;                         /* of its last batch */
  bool has_samples;
  uint64_t samples; /* of the caller's run */
  uint32_t note;    /* serial of that run's */
  char samplers[INTAKE_SAMPLERS_BYTES];
  char unsampled[INTAKE_WHY_BYTES]; /* run_note_unsampled */
  unsigned living;                  /* targets of it that go on */
  struct flush_account account;
  uint64_t
      tables_by_ns; /* not 0: the account is not closed yet, samples wait for tables until then */
};

/* Serves FLUSH: drains and spools at once, or when the tables are made that samples wait for, and
   answers now or when flush_check finds it done. */
void flush_on_request(struct worker *worker, struct intake_packet *packet);

/* With every tick, and when the uplink has news: answers those that are done.  Returns how many
   still wait. */
unsigned flush_check(struct worker *worker);

/* The daemon goes: accounts are closed, and whoever waits is told that it is in the spool. */
void flush_end(struct worker *worker);

/* CONNECTION is closed: nobody waits there any more. */
void flush_forget(struct worker *worker, const struct intake_connection *connection);

#endif
