/* SPDX-License-Identifier: Apache-2.0 */
/* The shared tables with which handlers of timer targets unwind stacks. */
#ifndef DAEMON_REGIONS_H
#define DAEMON_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions;
struct target;
struct worker;

/* Call after the worker's parts are open.  Returns 0 or -ENOMEM. */
int regions_open(struct worker *worker, struct regions **ret);
/* NULL is permitted. */
void regions_close(struct regions *regions);

/* Update the maps of all targets, or that of TARGET. */
void regions_step(struct worker *worker);
void regions_step_target(struct worker *worker, struct target *target);

struct regions_figures {
  uint64_t bytes, used_bytes; /* of the memory that targets map */
  uint32_t modules, left_out; /* modules with a table in it; modules without room */
};
void regions_figures(const struct regions *regions, struct regions_figures *ret);

#endif
