/* SPDX-License-Identifier: Apache-2.0 */
/* Converts counters to the OpenMetrics format. */
#ifndef HTTP_OPEN_METRICS_H
#define HTTP_OPEN_METRICS_H

struct buf;

#define OPEN_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends TEXT, lines in Prometheus' text form, to RET as OpenMetrics. */
void open_metrics_convert(const struct buf *text, struct buf *ret);

#endif
