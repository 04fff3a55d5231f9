/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in the form that OpenMetrics gives them. */
#ifndef HTTP_OPEN_METRICS_H
#define HTTP_OPEN_METRICS_H

struct buf;

#define OPEN_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends to RET what TEXT, lines of Prometheus' text form, says. */
void open_metrics_convert(const struct buf *text, struct buf *ret);

#endif
