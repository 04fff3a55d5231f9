/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of debug files and of reading them. */
#ifndef NAMES_NAMES_METRICS_H
#define NAMES_NAMES_METRICS_H

struct buf;
struct debug_store;

/* Appends the series fleetprof_names_... to RET, in Prometheus' text form.  Any thread. */
void names_metrics_print(struct debug_store *store, struct buf *ret);

#endif
