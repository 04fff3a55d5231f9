/* SPDX-License-Identifier: Apache-2.0 */
/* Moves records from every ring into the open window, and books them. */
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
  DRAIN_RING_PERF = 0,             /* counter_page's number for the perf rings; slot is the CPU */
  DRAIN_SCRATCH_BYTES = 256 << 10, /* records copied out at once, of all CPUs together */
};

/* counter_page's number for a batch that is made of no ring (shipper.c); tail is its seq. */
#define DRAIN_RING_SPOOL UINT32_MAX

struct option_list;

struct drain_figures {
  uint64_t bad_records, throttled;
  unsigned fill_percent; /* of the fullest ring at the last drain */
};

/* Records that wait in the kernel's rings for a table (perf_wait.c). */
struct drain_wait {
  bool is_allowed, is_on; /* in this run; and it came to that */
  uint64_t since_ns;      /* CLOCK_MONOTONIC; 0: nothing has waited since all tables were there */
};

/* The pipeline's parts, borrowed, and what a drain needs of its own. */
struct drain {
  struct counter_page *page;
  struct targets *targets;
  struct processes *processes;
  struct modules *modules;
  struct window *window;
  struct perf_rings *perf;
  const struct option_list *allow, *deny; /* services of the whole board; NULL: none are named */
  struct table_store *tables;             /* NULL: stacks that were copied have no callers */
  struct kernel_frames kernel;            /* of the whole board */
  struct walker walker;
  struct drain_wait wait;
  uint8_t *scratch;
  struct perf_piece *pieces; /* perf_drain.c */
  struct exit_debts debts;
  struct user_tolls users;
  struct drain_figures figures;
  uint64_t stacks_ns[STACK_END_COUNT]; /* of all samples, by how their stacks ended */
  bool is_last;                        /* drain_run_last: nothing is left behind */
  bool is_over;     /* the books are told as final: nothing is drained any more */
  bool has_gone_on; /* a recording into a file ends, and some of its targets do not */
};

int drain_init(struct drain *drain); /* after the parts are set; returns 0 or -ENOMEM */
void drain_fini(struct drain *drain);

/* Finishes or forgets what a killed worker had begun. */
void drain_recover(struct drain *drain);

/* Drains every ring once.  Returns the number of records taken. */
uint64_t drain_run(struct drain *drain);
/* The same, but stacks whose tables are being made may stay in the kernel's rings for a moment.
   Whoever counts on everything being taken asks for the other. */
uint64_t drain_run_patiently(struct drain *drain);
/* The same, of the kernel's rings alone: they hurry, and targets' own rings have their turns. */
uint64_t drain_run_events(struct drain *drain);
/* The same, before something is closed: also of the histograms, which else wait for their second.
 */
uint64_t drain_run_whole(struct drain *drain);
/* The same, before an account is closed: leaves nothing in the rings of the targets of RUN (0: of
   all), whatever they owe.  What takes too long (TOLL_LAST_MS) is dropped and counted. */
uint64_t drain_run_last(struct drain *drain, uint32_t run);

/* Frees the drained slots of TARGET whose threads are gone, and those of PID (0: of nobody), which
   runs another program now.  Returns how many still have an owner. */
uint32_t drain_reclaim_slots(struct target *target, pid_t pid);

/* Reports what is due of a perf target's exact rest: all of it when IS_FINAL. */
void drain_residual(struct drain *drain, struct target *target, bool is_final);
/* TARGET is about to be forgotten: what it has answered for goes to the account of the target that
   it is inside of, as time that is somebody else's. */
void drain_leave(struct drain *drain, const struct target *target);
/* Reports what processes of a timer target, that have ended, had spent unseen; IS_FINAL: all have.
 */
void drain_exits(struct drain *drain, struct target *target, bool is_final);
/* Reports WEIGHT_NS of TARGET as [unsampled]; TARGET need not be registered. */
void drain_rest(struct drain *drain, struct target *target, uint64_t weight_ns);

/* Every target stands in the window, so that its sampler, why and marks are told without samples.
 */
void drain_mention_all(struct drain *drain);

#endif
