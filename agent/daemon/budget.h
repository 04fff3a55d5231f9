/* SPDX-License-Identifier: Apache-2.0 */
/* What we cost this board, and the rates that hold it to the budget.

   --budget-cpu bounds what fleetprof adds to the board, as a share of one CPU, all programs
   together: the daemon's own CPU time (keeper and worker; not that of debug files, which have a
   budget of their own) and the cost of each sample to the program it interrupts.  Over any time no
   more than share * (time + one minute) is spent and what a first look finds overdrawn; where the
   daemon alone takes all of it, samples get a tenth of the budget beside it, and the state says
   "daemon".

   --budget-bytes bounds the batches as they are spooled, which is what is sent: in any 24 hours no
   more than it says.  First windows grow to a minute, then all rates are lowered by one factor, at
   most to 1 Hz; where even that costs more, the state says "floor".  Threads of a perf target that
   are older than the change cost the program what they did before until they have events of their
   own (rate.h): where that is much, the state says "threads".

   Budgets that nobody gave (the defaults) hold only rates that nobody asked for: a target that
   asks for more than --hz, or whose rate was set by `fleetprof ctl`, is left alone, and its part
   of the cost not counted; while more than the budget is spent because of such targets, the state
   says "unheld".  Where one of the two is given, both hold all.  0 is no budget. */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H

#include "cost.h"

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct worker;

/* Measures what samples cost here, and starts with full purses.  Returns 0 or -ENOMEM. */
int budget_open(const struct worker *worker, struct budget **ret);
void budget_close(struct budget *budget);

/* TARGET is new: an automatic rate begins with what the budget leaves of it now, so that programs
   which end before the next look do not each begin at the full rate. */
void budget_begin_target(struct worker *worker, struct target *target);

/* With every tick; looks once a second.  Sets the rates of WORKER's targets. */
void budget_step(struct worker *worker);

/* TARGET has ended: its figures stand for those of the board until there is another. */
void budget_note_end(struct budget *budget, const struct target *target);

/* How long windows are to be, ASKED_NS or more. */
uint64_t budget_window_ns(const struct budget *budget, uint64_t asked_ns);

struct budget_figures {
  double cpu_percent, bytes_day; /* the budgets; 0: none */
  bool is_given;                 /* else they are the defaults */
  double daemon_percent;         /* of one CPU, about the last minute, as the next */
  double added_percent;          /* the daemon and what samples cost the programs */
  double spent_bytes_day;        /* batches spooled in the last 24 hours */
  double cpu_fill, bytes_fill;   /* of the purses, 0 to 1 */
  double factor;                 /* of the asked rates */
  struct sample_cost machine;    /* measured at the start */
  struct ring_cost handler;      /* of a target by timer, the last that began; runs 0: none */
  uint64_t sample_ns; /* what one costs the target with the most samples, or the last; or 0 */
  uint32_t asked_mhz; /* of the target with the most samples, or the last, or the default */
  const char *reason; /* rate_reason of that target */
  const char *state;  /* off, within, window, cpu, bytes, daemon, floor, threads, unheld */
};
void budget_figures(const struct worker *worker, struct budget_figures *ret);

/* True when FIGURES are worth telling the collector again: now and then, and at once when the state
   has changed.  They count as told then. */
bool budget_is_news(struct budget *budget, const struct budget_figures *figures);

/* What samples cost.  Borrowed. */
const struct cost_meter *budget_meter(const struct budget *budget);

#endif
