/* SPDX-License-Identifier: Apache-2.0 */
/* When each board was last seen, for alerts on those that fell silent. */
#ifndef HTTP_BOARD_METRICS_H
#define HTTP_BOARD_METRICS_H

struct buf;
struct store;

enum { BOARD_METRICS_MAX = 1000 }; /* series are dear where they are kept */

/* Appends the first BOARD_METRICS_MAX boards of STORE by name, and whether there are more.  Boards
   that cannot be read are none. */
void board_metrics_print(struct store *store, struct buf *ret);

#endif
