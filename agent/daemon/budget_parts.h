/* SPDX-License-Identifier: Apache-2.0 */
/* What budget.c (holds) and budget_figures.c (tells) share. */
#ifndef DAEMON_BUDGET_PARTS_H
#define DAEMON_BUDGET_PARTS_H

#include "budget.h"
#include "pace.h"

struct settings;

enum { BUDGET_HOURS = 24 };

/* What is told of the rate and the cost of one target. */
struct shown {
  uint32_t asked_mhz;
  uint64_t sample_ns;
  const char *reason;
  struct ring_cost handler; /* runs 0: none was timed */
};

struct budget {
  struct cost_meter meter;
  struct pace cpu, bytes;
  struct cost_spent spent;     /* since the last step of CPU */
  struct cost_spent of_window; /* since the last step of bytes: whose samples they hold */
  uint64_t look_ns, cpu_step_ns, bytes_step_ns, start_ns; /* CLOCK_MONOTONIC */
  uint64_t spooled_bytes, batches;                        /* at the last step of bytes */
  double factor, floor;
  bool is_begun;
  double daemon_percent, added_percent, stuck_percent; /* averages */
  struct budget_figures told;                          /* as the collector knows them */
  uint64_t told_ns;
  struct shown last;               /* of the target that ended last; at first what there would be */
  bool has_unheld;                 /* a target whose rate is left alone */
  double hour_bytes[BUDGET_HOURS]; /* spooled in each of the last hours */
  uint64_t hour;                   /* since the start, of the newest */
};

/* The user has given a budget: it holds all rates. */
bool budget_is_given(const struct settings *settings);

#endif
