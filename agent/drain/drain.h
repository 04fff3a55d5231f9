/* SPDX-License-Identifier: Apache-2.0 */
/* Moves records from every ring into the open window, and accounts for them. */
#ifndef DRAIN_DRAIN_H
#define DRAIN_DRAIN_H

#include "kernel_frames.h"
#include "window.h"

#include "keeper/counter_page.h"
#include "perf/perf_ring.h"
#include "targets/processes.h"
#include "targets/targets.h"
#include "targets/user_tolls.h"
#include "walk/walker.h"

enum {
  DRAIN_RING_PERF = 0,             /* number of the perf rings in counter_page; slot is the CPU */
  DRAIN_SCRATCH_BYTES = 256 << 10, /* records copied at once, for all CPUs together */
};

/* Ring number in counter_page of a batch from no ring (shipper.c); tail is its seq. */
#define DRAIN_RING_SPOOL UINT32_MAX

struct option_list;

struct drain_figures {
  uint64_t bad_records, throttled;
  unsigned fill_percent; /* of the fullest ring at the last drain */
};

/* Records that wait in the kernel's rings for a table (perf_wait.c). */
struct drain_wait {
  bool is_allowed, is_on; /* in this run; and it happened */
  uint64_t since_ns;      /* CLOCK_MONOTONIC; 0: nothing has waited since all tables were there */
};

/* The pipeline's parts, borrowed, and the drain's own state. */
struct drain {
  struct counter_page *page;
  struct targets *targets;
  struct processes *processes;
  struct modules *modules;
  struct window *window;
  struct perf_rings *perf;
  const struct option_list *allow, *deny; /* services of the whole board; NULL: no list */
  struct table_store *tables;             /* NULL: copied stacks have no callers */
  struct kernel_frames kernel;            /* for the whole board */
  struct walker walker;
  struct drain_wait wait;
  uint8_t *scratch;
  struct perf_piece *pieces; /* perf_drain.c */
  struct exit_debts debts;
  struct user_tolls users;
  struct drain_figures figures;
  uint64_t stacks_ns[STACK_END_COUNT]; /* of all samples, by the end of their stacks */
  bool is_last;                        /* drain_run_last: nothing is left in the rings */
  bool is_over;                        /* final accounts were sent: nothing more is drained */
  bool has_gone_on; /* a recording into a file ends, and some of its targets continue */
};

int drain_init(struct drain *drain); /* after the parts are set; returns 0 or -ENOMEM */
void drain_fini(struct drain *drain);

/* Completes or discards the killed worker's unfinished step. */
void drain_recover(struct drain *drain);

/* Drains every ring once. Returns the number of records taken. */
uint64_t drain_run(struct drain *drain);
/* The same, but stacks with tables in the making may stay in the kernel's rings for a short time.
   Callers that need all records call drain_run. */
uint64_t drain_run_patiently(struct drain *drain);
/* The same for the kernel's rings alone: they fill fast, and targets' own rings have their
   turns. */
uint64_t drain_run_events(struct drain *drain);
/* The same before a window closes: includes the histograms, which otherwise are read once a
   second. */
uint64_t drain_run_whole(struct drain *drain);
/* The same, before an account is closed: leaves nothing in the rings of the targets of RUN (0: of
   all), even if they are over their quota. Records that take too long (TOLL_LAST_MS) are dropped
   and counted. */
uint64_t drain_run_last(struct drain *drain, uint32_t run);

/* Frees the drained slots of TARGET with dead threads, and those of PID (0: none), which runs
   another program now. Returns the number of slots that still have an owner. */
uint32_t drain_reclaim_slots(struct target *target, pid_t pid);

/* Reports the due part of a perf target's exact rest: all of it if IS_FINAL. */
void drain_residual(struct drain *drain, struct target *target, bool is_final);
/* Before TARGET is removed: adds its reported time to the account of the target that contains it,
   as time reported elsewhere. */
void drain_leave(struct drain *drain, const struct target *target);
/* Reports the unsampled CPU time of a timer target's ended processes; IS_FINAL: all have ended. */
void drain_exits(struct drain *drain, struct target *target, bool is_final);
/* Reports WEIGHT_NS of TARGET as [unsampled]; TARGET need not be registered. */
void drain_rest(struct drain *drain, struct target *target, uint64_t weight_ns);

/* Adds every target to the window, so that its sampler, why and marks are reported without
   samples. */
void drain_mention_all(struct drain *drain);

#endif
