/* SPDX-License-Identifier: Apache-2.0 */
/* By name, so that a large fleet has the same series in each scrape: those that were seen last
   would come and go. */
#include "board_metrics.h"

#include "common/buf.h"
#include "store/store_read.h"

#include <errno.h>
#include <inttypes.h>

struct walk {
  struct buf *ret;
  unsigned count;
};

static void print_label(struct buf *ret, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\\' || *text == '"') buf_append_byte(ret, '\\');
    buf_append_string(ret, *text == '\n' ? "\\n" : (char[]){*text, '\0'});
  }
}

static int on_board(void *context, const struct store_board *board) {
  struct walk *walk = context;
  if (walk->count++ == BOARD_METRICS_MAX) return -ECANCELED;
  buf_append_string(walk->ret, "fleetprof_board_last_seen_timestamp_seconds{board=\"");
  print_label(walk->ret, board->name);
  buf_printf(walk->ret, "\"} %" PRIu64 ".%03u\n", board->last_seen_ms / 1000,
             (unsigned)(board->last_seen_ms % 1000));
  return 0;
}

void board_metrics_print(struct store *store, struct buf *ret) {
  struct walk walk = {.ret = ret};
  buf_append_string(ret, "# HELP fleetprof_board_last_seen_timestamp_seconds When a board was last "
                         "heard of.\n"
                         "# TYPE fleetprof_board_last_seen_timestamp_seconds gauge\n");
  if (store != NULL) store_boards(store, on_board, &walk);
  buf_printf(ret,
             "# HELP fleetprof_board_last_seen_is_cut 1 where there are more boards than are "
             "listed.\n"
             "# TYPE fleetprof_board_last_seen_is_cut gauge\n"
             "fleetprof_board_last_seen_is_cut %d\n",
             walk.count > BOARD_METRICS_MAX);
}
