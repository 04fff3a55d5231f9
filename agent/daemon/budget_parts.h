/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by budget.c (rates) and budget_figures.c (reports). */
#ifndef DAEMON_BUDGET_PARTS_H
#define DAEMON_BUDGET_PARTS_H

#include "budget.h"
#include "pace.h"

struct settings;

enum { BUDGET_HOURS = 24 };

/* The reported rate and cost of one target. */
struct shown {
  uint32_t asked_mhz;
  uint64_t sample_ns;
  const char *reason;
  struct ring_cost handler; /* runs 0: not measured */
};

struct budget {
  struct cost_meter meter;
  struct pace cpu, bytes;
  struct cost_spent spent;     /* since the last CPU step */
  struct cost_spent of_window; /* since the last byte step: targets of its samples */
  uint64_t look_ns, cpu_step_ns, bytes_step_ns, start_ns; /* CLOCK_MONOTONIC */
  uint64_t spooled_bytes, batches;                        /* at the last byte step */
  double factor, floor;
  bool is_begun;
  double daemon_percent, added_percent, stuck_percent; /* averages */
  struct budget_figures told;                          /* as last reported to the collector */
  uint64_t told_ns;
  struct shown last; /* of the target that ended last; initially the expected values */
  bool has_unheld;   /* a target with a rate that is left alone */
  double hour_bytes[BUDGET_HOURS]; /* spooled in each of the last hours */
  uint64_t hour;                   /* of the newest entry, since the start */
};

/* Whether the user has set a budget: it then limits all rates. */
bool budget_is_given(const struct settings *settings);

#endif
