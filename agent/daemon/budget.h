/* SPDX-License-Identifier: Apache-2.0 */
/* The profiler's cost on this board, and the rates that hold it to the budget.

   --budget-cpu bounds the CPU time that fleetprof adds to the board, as a share of one CPU, for all
   programs together.  It counts the daemon's own CPU time and the cost of each sample to the
   interrupted program.  The daemon's time is that of supervisor and worker; debug files have their
   own budget.  Over any time, at most share * (time + one minute) is spent, plus the overdraft of
   the first look.  If the daemon alone uses all of it, samples get a tenth of the budget in
   addition, and the state is "daemon".

   --budget-bytes bounds the spooled batches, which are the bytes sent: in any 24 hours at most this
   number.  First windows grow to a minute, then all rates are lowered by one factor, at most to 1
   Hz.  If that still costs more, the state is "floor".  Threads of a perf target that are older
   than the change cost the same as before until they have their own events (rate.h).  If that is
   much, the state is "threads".

   The default budgets limit only targets with the default rate.  A target that requests more than
   --hz, or has a rate from `fleetprof ctl`, is left alone, and its cost is not counted.  While
   these targets exceed the budget, the state is "unheld".  If either option is given, both budgets
   limit all targets. 0 is no budget. */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H

#include "cost.h"

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct worker;

/* Measures the cost of samples here, and starts with full token buckets.  Returns 0 or -ENOMEM. */
int budget_open(const struct worker *worker, struct budget **ret);
void budget_close(struct budget *budget);

/* Starts the automatic rate of the new TARGET at the rest of the budget.  Otherwise programs that
   end before the next look would all run at the full rate. */
void budget_begin_target(struct worker *worker, struct target *target);

/* Call at every tick; it acts once a second.  Sets the rates of WORKER's targets. */
void budget_step(struct worker *worker);

/* TARGET has ended: its figures are reported for the board until there is another target. */
void budget_note_end(struct budget *budget, const struct target *target);

/* Returns the length of windows, ASKED_NS or more. */
uint64_t budget_window_ns(const struct budget *budget, uint64_t asked_ns);

struct budget_figures {
  double cpu_percent, bytes_day; /* the budgets; 0: none */
  bool is_given;                 /* else they are the defaults */
  double daemon_percent;         /* of one CPU, over the last minute */
  double added_percent;   /* the daemon and the cost of samples to programs, over the last minute */
  double spent_bytes_day; /* batches spooled in the last 24 hours */
  double cpu_fill, bytes_fill; /* of the token buckets, 0 to 1 */
  double factor;               /* of the requested rates */
  struct sample_cost machine;  /* measured at the start */
  struct ring_cost handler;    /* of the timer target that began last; runs 0: none */
  uint64_t sample_ns; /* cost of a sample to the target with the most samples, or the last target;
                         or 0 */
  uint32_t asked_mhz; /* requested by the target with the most samples, or the last target, or the
                         default */
  const char *reason; /* rate_reason of that target */
  const char *state;  /* off, within, window, cpu, bytes, daemon, floor, threads, unheld */
};
void budget_figures(const struct worker *worker, struct budget_figures *ret);

/* True if FIGURES should be reported to the collector: periodically, and at once when the state has
   changed.  They then count as reported. */
bool budget_is_news(struct budget *budget, const struct budget_figures *figures);

/* The cost of samples.  Borrowed. */
const struct cost_meter *budget_meter(const struct budget *budget);

#endif
