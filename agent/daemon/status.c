/* SPDX-License-Identifier: Apache-2.0 */
/* Written directly into a buffer: one object, rarely created, read by `fleetprof status` and by
   users with jq.  The answer is sent as a memfd, so its length is not limited by a packet's.  The
   programs' part is in status_target.c. */
#include "status.h"
#include "budget.h"
#include "intake.h"
#include "regions.h"
#include "status_json.h"
#include "switchboard.h"
#include "worker.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/hex_text.h"
#include "uplink/debug_sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void print_head(const struct worker *worker, struct buf *out) {
  const struct keeper *keeper = worker->keeper;
  const struct settings *settings = worker->settings;
  char run[17], boot[33];
  struct uplink_figures uplink;
  uplink_figures(worker->uplink, &uplink);
  snprintf(run, sizeof run, "%016llx", (unsigned long long)keeper->run);
  hex_text_print(span_of(keeper->page->boot_id, sizeof keeper->page->boot_id), boot, sizeof boot);
  json_string(out, "version", FLEETPROF_VERSION);
  json_number(out, "pid", (uint64_t)getppid());
  json_number(out, "worker_pid", (uint64_t)getpid());
  json_number(out, "worker_starts", keeper->worker_starts);
  json_string(out, "state", settings->state_dir);
  json_string(out, "run", run);
  json_string(out, "boot_id", boot);
  uint64_t uptime_ns = clock_boottime_ns() - keeper->start_boottime_ns;
  int64_t now_ns = (int64_t)clock_walltime_ns() + uplink.clock_offset_ns;
  json_number(out, "started_walltime_ns", (uint64_t)now_ns - uptime_ns);
  json_number(out, "uptime_s", uptime_ns / NS_PER_SECOND);
  json_string(out, "collector", worker->collector);
  json_string(out, "kill_switch", switchboard_kill_path(worker));
  json_open(out, "perf");
  json_bool(out, "available", keeper->perf.count > 0);
  json_string(out, "why", keeper->perf.why);
  buf_append_byte(out, '}');
}

static void print_budget(const struct worker *worker, const struct budget_figures *figures,
                         struct buf *out) {
  json_open(out, "budget");
  json_number(out, "debug_used", debug_sender_used(worker->debug));
  json_number(out, "debug_bytes_day", worker->settings->budget_debug_bytes_day);
  json_number(out, "bytes_day", worker->settings->budget_bytes_day);
  json_fraction(out, "cpu_percent", figures->cpu_percent);
  json_bool(out, "given", figures->is_given);
  json_string(out, "state", figures->state);
  json_fraction(out, "factor", figures->factor);
  json_fraction(out, "cpu_fill", figures->cpu_fill);
  json_fraction(out, "bytes_fill", figures->bytes_fill);
  json_number(out, "window_ms",
              budget_window_ns(worker->budget, worker->settings->window_ns) / NS_PER_MS);
  buf_append_byte(out, '}');
}

static void print_cost(const struct budget_figures *figures, struct buf *out) {
  json_open(out, "cost");
  json_fraction(out, "daemon_cpu_percent", figures->daemon_percent);
  json_fraction(out, "added_cpu_percent", figures->added_percent);
  json_number(out, "bytes_day", (uint64_t)figures->spent_bytes_day);
  json_number(out, "perf_sample_ns", figures->machine.perf_ns);
  json_number(out, "signal_ns", figures->machine.signal_ns);
  json_number(out, "handler_runs", figures->handler.runs);
  json_number(out, "handler_ns_p50", figures->handler.p50_ns);
  json_number(out, "handler_ns_p99", figures->handler.p99_ns);
  buf_append_byte(out, '}');
}

static void print_uplink(const struct worker *worker, struct buf *out) {
  struct uplink_figures figures;
  uplink_figures(worker->uplink, &figures);
  json_open(out, "uplink");
  json_string(out, "state", figures.state);
  json_string(out, "why", figures.why);
  json_string(out, "page_url", figures.page_url);
  json_bool(out, "connected", figures.is_connected);
  json_number(out, "acked_batches", figures.acked_batches);
  json_number(out, "sent_bytes", figures.sent_bytes);
  json_number(out, "reconnects", figures.reconnects);
  json_number(out, "retry_in_ms", figures.retry_in_ms);
  json_bool(out, "is_time_known", figures.is_time_known);
  json_fraction(out, "clock_offset_s", (double)figures.clock_offset_ns / 1e9);
  buf_append_byte(out, '}');
}

static void print_spool(const struct worker *worker, struct buf *out) {
  struct spool_figures figures;
  spool_figures(worker->spool, &figures);
  json_open(out, "spool");
  json_number(out, "entries", figures.entries);
  json_number(out, "records", figures.records);
  json_number(out, "bytes", figures.bytes);
  json_number(out, "bytes_max", worker->settings->spool_bytes);
  json_number(out, "memory_entries", figures.memory_entries);
  json_number(out, "memory_records", figures.memory_records);
  json_number(out, "memory_bytes", figures.memory_bytes);
  json_number(out, "corrupt_segments", figures.corrupt_segments);
  json_number(out, "torn_tails", figures.torn_tails);
  json_number(out, "quarantined", figures.quarantined);
  json_number(out, "bytes_written", figures.bytes_written);
  json_number(out, "syncs", figures.syncs);
  json_number(out, "failed_syncs", figures.failed_syncs);
  json_number(out, "day_bytes", figures.day_bytes);
  json_number(out, "day_syncs", figures.day_syncs);
  json_string(out, "error", figures.last_error ? strerror(abs(figures.last_error)) : "");
  buf_append_byte(out, '}');
}

static void print_loss(const struct worker *worker, struct buf *out) {
  const struct counters *books = counter_page_books(worker->keeper->page);
  uint64_t waiting = spool_records_of(worker->spool, worker->keeper->run);
  json_open(out, "loss");
  json_number(out, "produced", books->produced);
  json_number(out, "shipped", books->shipped);
  json_number(out, "spooled", waiting);
  json_number(out, "acked", books->shipped > waiting ? books->shipped - waiting : 0);
  json_number(out, "open", counters_open(books));
  json_open(out, "dropped");
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    json_number(out, loss_name(i), books->dropped[i]);
  buf_append_byte(out, '}');
  status_print_unsampled(worker, out);
  json_number(out, "perf_throttled", worker->drain.figures.throttled);
  buf_append_byte(out, '}');
}

/* The paths belong to files of any user's programs. */
static void print_tables(const struct worker *worker, uint32_t viewer, struct buf *out) {
  bool has_paths = status_may_see(viewer, geteuid());
  struct table_store_figures figures;
  struct regions_figures shared;
  table_store_figures(worker->tables, &figures);
  regions_figures(worker->regions, &shared);
  json_open(out, "tables");
  json_number(out, "ready", figures.ready);
  json_number(out, "waiting", figures.waiting);
  json_number(out, "nothing", figures.nothing);
  json_number(out, "unreadable", figures.unreadable);
  json_number(out, "refused", figures.refused);
  json_number(out, "failed", figures.failed);
  json_number(out, "left_out", figures.left_out);
  json_number(out, "made", figures.made);
  json_number(out, "mapped_bytes", figures.mapped_bytes);
  json_number(out, "shared", shared.modules);
  json_number(out, "shared_left_out", shared.left_out);
  json_number(out, "shared_bytes", shared.used_bytes);
  json_number(out, "shared_bytes_max", shared.bytes);
  json_number(out, "foreign_samples", worker->drain.walker.foreign);
  json_string(out, "path", has_paths ? figures.path : "");
  json_string(out, "why", figures.why);
  json_number(out, "functions_refused", figures.functions_refused);
  json_number(out, "functions_left", figures.functions_left);
  json_number(out, "untold_rows", figures.untold_rows);
  json_string(out, "functions_path", has_paths ? figures.functions_path : "");
  json_string(out, "functions_why", figures.functions_why);
  buf_append_byte(out, '}');
}

static void print_intake(const struct worker *worker, struct buf *out) {
  struct intake_figures figures;
  intake_figures(worker->intake, &figures);
  json_open(out, "intake");
  json_number(out, "connections", figures.connections);
  json_number(out, "packets", figures.packets);
  json_number(out, "refused", figures.refused);
  json_number(out, "malformed", figures.malformed);
  json_number(out, "deferred", figures.deferred);
  json_number(out, "turned_away", figures.turned_away);
  refusals_print(&worker->refusals, out);
  buf_append_byte(out, '}');
}

/* Appends the text that user VIEWER may read to RET. */
static void print_all(const struct worker *worker, uint32_t viewer, struct buf *ret) {
  struct budget_figures figures;
  budget_figures(worker, &figures);
  buf_append_byte(ret, '{');
  print_head(worker, ret);
  print_budget(worker, &figures, ret);
  print_cost(&figures, ret);
  print_uplink(worker, ret);
  print_spool(worker, ret);
  print_loss(worker, ret);
  status_print_targets(worker, viewer, ret);
  status_print_notes(worker, viewer, ret);
  print_tables(worker, viewer, ret);
  print_intake(worker, ret);
  buf_append_string(ret, "}\n");
}

static int make_memfd(const struct buf *text) {
  int fd = memfd_create("fleetprof-status", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (write(fd, text->data, text->len) == (ssize_t)text->len && lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  close(fd);
  return -1;
}

void status_on_request(struct worker *worker, struct intake_packet *packet) {
  struct intake_reply reply = {.kind = INTAKE_TEXT};
  struct buf text = {0};
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL && worker->targets.rows[row]->held.kind == HOLD_PERF)
      target_read_total(worker->targets.rows[row]);
  print_all(worker, packet->uid, &text);
  int fd = text.failed ? -1 : make_memfd(&text);
  buf_fini(&text);
  if (fd < 0) {
    intake_refuse(packet->connection, "no memory for an answer");
    return;
  }
  intake_answer(packet->connection, &reply, fd);
  close(fd);
}
