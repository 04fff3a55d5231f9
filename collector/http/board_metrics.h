/* SPDX-License-Identifier: Apache-2.0 */
/* When each board was last seen, for alerts on silent boards; and the accounting of all boards
   together, for alerts on lost samples. */
#ifndef HTTP_BOARD_METRICS_H
#define HTTP_BOARD_METRICS_H

struct buf;
struct store;

enum { BOARD_METRICS_MAX = 1000 }; /* each series costs the monitoring system storage */

/* Appends the first BOARD_METRICS_MAX boards of STORE by name, and whether there are more; then the
   sums of all boards, with each reason for loss. If boards cannot be read, it appends none. */
void board_metrics_print(struct store *store, struct buf *ret);

/* Appends TEXT, escaped for the quotes of a label. */
void metrics_print_label(struct buf *ret, const char *text);

#endif
