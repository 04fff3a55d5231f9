/* SPDX-License-Identifier: Apache-2.0 */
/* Boards are taken by name, so that a large fleet has the same series in each scrape. A choice by
   last contact would make series appear and vanish. Every reason for loss has a line, even at 0: a
   series that appears with its first loss shows no increase. Losses are a gauge, because a sample
   that arrives after it was given up is no longer lost (books.c), and a falling counter looks like
   a restart. */
#include "board_metrics.h"

#include "common/buf.h"
#include "common/sums.h"
#include "store/store_read.h"

#include <inttypes.h>

struct walk {
  struct buf *ret;
  struct buf cpus; /* lines about CPUs, printed after the others */
  unsigned count;
  uint64_t all_cpus, produced, stored, pending, dropped[LOSS_REASON_COUNT];
};

void metrics_print_label(struct buf *ret, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\\' || *text == '"') buf_append_byte(ret, '\\');
    buf_append_string(ret, *text == '\n' ? "\\n" : (char[]){*text, '\0'});
  }
}

static int on_board(void *context, const struct store_board *board) {
  struct walk *walk = context;
  walk->produced = sum_of(walk->produced, board->produced);
  walk->stored = sum_of(walk->stored, board->stored);
  walk->pending = sum_of(walk->pending, board->pending);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    walk->dropped[i] = sum_of(walk->dropped[i], board->dropped[i]);
  walk->all_cpus += board->cpus;
  if (walk->count++ >= BOARD_METRICS_MAX) return 0;
  buf_append_string(walk->ret, "fleetprof_board_last_seen_timestamp_seconds{board=\"");
  metrics_print_label(walk->ret, board->name);
  buf_printf(walk->ret, "\"} %" PRIu64 ".%03u\n", board->last_seen_ms / 1000,
             (unsigned)(board->last_seen_ms % 1000));
  buf_append_string(&walk->cpus, "fleetprof_board_cpus{board=\"");
  metrics_print_label(&walk->cpus, board->name);
  buf_printf(&walk->cpus, "\"} %" PRIu32 "\n", board->cpus);
  return 0;
}

static void print_books(const struct walk *walk) {
  struct buf *ret = walk->ret;
  buf_printf(ret,
             "# HELP fleetprof_samples_produced_total Samples that all boards have made.\n"
             "# TYPE fleetprof_samples_produced_total counter\n"
             "fleetprof_samples_produced_total %" PRIu64 "\n"
             "# HELP fleetprof_samples_stored_total Samples of them that are stored.\n"
             "# TYPE fleetprof_samples_stored_total counter\n"
             "fleetprof_samples_stored_total %" PRIu64 "\n"
             "# HELP fleetprof_samples_pending Samples of them that are still with the boards.\n"
             "# TYPE fleetprof_samples_pending gauge\n"
             "fleetprof_samples_pending %" PRIu64 "\n"
             "# HELP fleetprof_samples_dropped Samples of them that were lost, by reason.\n"
             "# TYPE fleetprof_samples_dropped gauge\n",
             walk->produced, walk->stored, walk->pending);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    buf_printf(ret, "fleetprof_samples_dropped{reason=\"%s\"} %" PRIu64 "\n", loss_name(i),
               walk->dropped[i]);
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
  buf_append_string(ret,
                    "# HELP fleetprof_board_cpus CPUs that a board says it has; 0: it does not "
                    "say.\n"
                    "# TYPE fleetprof_board_cpus gauge\n");
  buf_append(ret, walk.cpus.data, walk.cpus.len);
  ret->failed |= walk.cpus.failed;
  buf_fini(&walk.cpus);
  buf_printf(ret,
             "# HELP fleetprof_fleet_cpus CPUs that all boards say they have.\n"
             "# TYPE fleetprof_fleet_cpus gauge\n"
             "fleetprof_fleet_cpus %" PRIu64 "\n",
             walk.all_cpus);
  print_books(&walk);
}
