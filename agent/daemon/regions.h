/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of all timer targets walk stacks with. */
#ifndef DAEMON_REGIONS_H
#define DAEMON_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions;
struct target;
struct worker;

/* After the worker's parts are there.  Returns 0 or -ENOMEM. */
int regions_open(struct worker *worker, struct regions **ret);
/* NULL is fine. */
void regions_close(struct regions *regions);

/* Brings the maps of all targets, or that of TARGET, up to date. */
void regions_step(struct worker *worker);
void regions_step_target(struct worker *worker, struct target *target);

struct regions_figures {
  uint64_t bytes, used_bytes; /* of the memory that targets map */
  uint32_t modules, left_out; /* whose tables are in it; for which it had no room */
};
void regions_figures(const struct regions *regions, struct regions_figures *ret);

#endif
