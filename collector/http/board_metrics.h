/* SPDX-License-Identifier: Apache-2.0 */
/* When each board was last seen, for alerts on those that fell silent; and the books of all boards
   together, for alerts on samples that were lost. */
#ifndef HTTP_BOARD_METRICS_H
#define HTTP_BOARD_METRICS_H

struct buf;
struct store;

enum { BOARD_METRICS_MAX = 1000 }; /* series are dear where they are kept */

/* Appends the first BOARD_METRICS_MAX boards of STORE by name, and whether there are more; then the
   sums of all, by each reason for loss.  Boards that cannot be read are none. */
void board_metrics_print(struct store *store, struct buf *ret);

/* Appends TEXT as the inside of a label's quotes. */
void metrics_print_label(struct buf *ret, const char *text);

#endif
