/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: everything that the daemon does, on one libevent loop. */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include "drain/drain.h"
#include "keeper/keeper.h"
#include "shipper.h"
#include "uplink/uplink.h"
#include <sys/utsname.h>

struct budget;
struct event;
struct event_base;
struct intake;
struct intake_connection;
struct intake_packet;

enum {
  WORKER_NOTES_MAX = 64,
  WORKER_FLUSHES_MAX = 64,
  WORKER_EXIT_DONE = 0,   /* the daemon ends */
  WORKER_EXIT_FAILED = 1, /* start another */
};

/* One `run`: what it chose for its program and why, and how much of its CPU time the
   targets of its tree explain. */
struct worker_note {
  uint32_t serial; /* 0: free */
  uint32_t outer;  /* the note of the run that this one is part of, or 0 */
  int32_t pid;
  uint32_t target; /* id under which its rest is reported */
  uint32_t uid, asked_mhz, collect;
  uint64_t start_ticks, begun_ns; /* of that pid; CLOCK_MONOTONIC of the note */
  bool is_looked_at, is_told;     /* by ladder.c; the program has ended, its rest is reported */
  uint64_t explained_ns;          /* by targets that have ended */
  uint64_t samples;               /* of targets that have ended */
  char sampler[16];
  char service[INTAKE_SERVICE_BYTES];
  char labels[INTAKE_LABELS_BYTES];
  char exe[INTAKE_PATH_BYTES];
  char why[INTAKE_WHY_BYTES];
};

/* A caller that waits until what was drained is with the collector. */
struct worker_flush {
  struct intake_connection *connection; /* NULL: free */
  uint64_t deadline_ns, settle_ns;      /* CLOCK_MONOTONIC */
  uint64_t seq;                         /* of its last batch */
  bool has_samples;
  uint64_t samples; /* of the caller's run */
};

struct worker {
  struct keeper *keeper;
  const struct settings *settings;
  struct event_base *loop;
  struct event *tick, *terminate, *interrupt, *keeper_gone;
  struct spool *spool;
  struct profile_file file; /* open when the keeper has an output */
  struct debug_sender *debug;
  struct budget *budget;
  struct uplink *uplink;
  struct intake *intake;
  struct targets targets;
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  struct drain drain;
  struct shipper shipper;
  struct worker_note notes[WORKER_NOTES_MAX];
  uint32_t last_note; /* serial */
  struct worker_flush flushes[WORKER_FLUSHES_MAX];
  char collector[SETTINGS_PATH_BYTES], certificate[SETTINGS_PATH_BYTES];
  char key[SETTINGS_PATH_BYTES], ca[SETTINGS_PATH_BYTES], kill_path[SETTINGS_PATH_BYTES];
  struct utsname machine;
  struct label labels[OPTION_LIST_MAX];
  char label_text[OPTION_LIST_MAX][256];
  uint64_t start_ns;         /* CLOCK_MONOTONIC, as all below */
  uint64_t live_ns, busy_ns; /* when a target was last there; when a record last came */
  uint64_t swept_ns, synced_ns, left_ns, looked_ns, stepped_ns;
  bool is_killed;                           /* the kill switch is on (switchboard.c) */
  uint64_t stop_by_ns;                      /* not 0: ending */
  uint64_t targets_seen, threads_unsampled; /* since this worker started; of ended targets */
};

/* The keeper's worker function: runs until TERM, until the keeper is gone, or until an on-demand
   daemon has nothing more to do. */
int worker_run(struct keeper *keeper);

/* Drains all, reports what is due of exact rests, spools the window.  Returns 0 or -errno. */
int worker_close_window(struct worker *worker);

/* registrar.c: TARGET and NOTE; registrar_perf.c: PERF. */
void registrar_on_target(struct worker *worker, struct intake_packet *packet);
void registrar_on_perf(struct worker *worker, struct intake_packet *packet);
void registrar_on_note(struct worker *worker, struct intake_packet *packet);

/* flush.c: FLUSH. */
void flush_on_request(struct worker *worker, struct intake_packet *packet);
void flush_forget(struct worker *worker, const struct intake_connection *connection);
unsigned flush_check(struct worker *worker); /* answers those that are done; how many still wait */

#endif
