/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the pipeline of pipeline.c:

      intake ─▶ targets ◀─ supervisor's table
      tick: drain ─▶ window ─▶ batch ─▶ spool ─▶ uplink
                 (when it is full or old, a target ended, FLUSH)

   There is a tick every 100 ms if a timer ring could fill up, every 200 ms if only the kernel's
   rings (seconds deep) wait.  Ticks are shorter when a ring is half full, longer when there are no
   records. libevent and OpenSSL exist only here: the supervisor, from which this process was
   forked, never loads them.

   The window closes after --window if it has WINDOW_RECORDS_MIN records.  Otherwise it grows, up to
   a minute, so that more samples share a batch's fixed cost.

   The shutdown is in ending.c. */
#include "worker.h"
#include "budget.h"
#include "ending.h"
#include "hello.h"
#include "intake.h"
#include "kept_adopt.h"
#include "kept_ship.h"
#include "ladder.h"
#include "pipeline.h"
#include "regions.h"
#include "registrar.h"
#include "ring_wakeup.h"
#include "run_note.h"
#include "status.h"
#include "sweep.h"
#include "switchboard.h"

#include "census/census.h"
#include "census/lock_step.h"
#include "common/clock.h"
#include "common/log.h"
#include "drain/histogram_drain.h"
#include "intake/cpu_list.h"
#include "targets/perf_threads.h"
#include "targets/stride.h"
#include "targets/switch.h"
#include "uplink/debug_sender.h"
#include "walk/table_store.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS_LONGEST (60 * NS_PER_SECOND)
#define FILE_WINDOW_NS_MIN (50 * NS_PER_MS)
#define SWEEP_INTERVAL_NS (500 * NS_PER_MS)
#define ON_DEMAND_NS (60 * NS_PER_SECOND) /* an on-demand daemon without targets ends then */
#define PRIVATE_NS (10 * NS_PER_SECOND)   /* for a file: its run reports the end, or was killed */
#define LEFT_INTERVAL_NS (10 * NS_PER_SECOND)
#define QUIET_NS (5 * NS_PER_SECOND) /* without records: tick half as often */

enum {
  WINDOW_RECORDS_MIN = 100,
  WINDOW_RECORDS_OF_CPU = 600000, /* 10 kHz for a minute; a collector takes twice as many */
  LAST_WINDOWS_MAX = 64,
  TICK_MS = 100,
  TICK_PERF_MS = 200,
  TICK_FULL_MS = 20,
  TICK_WAKE_MS = 5,
  TICK_TABLES_MS = 20, /* tables are built in sequence, and stacks do without until then */
  TICK_IDLE_MS = 500,
  FILE_WINDOWS = 64, /* windows of a run so far: a difference has as many units */
  FILL_PERCENT_HIGH = 50,
  HEAP_PIECE_BYTES_MAX = 32 << 10, /* larger allocations get their own mapping */
  HEAP_TOP_BYTES = 16 << 10,
};

static void report_residuals(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.kind == HOLD_PERF)
      drain_residual(&worker->drain, target, false);
    if (target != NULL && target->held.kind == HOLD_TIMER)
      drain_exits(&worker->drain, target, false);
  }
}

/* Ships the records that exceed one window, before the last one. */
static void ship_histograms(struct worker *worker) {
  for (unsigned i = 0; i < LAST_WINDOWS_MAX; i++) {
    uint64_t since_ns, records = 0;
    for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
      if (worker->targets.rows[row] != NULL)
        records += histogram_drain_unshipped(worker->targets.rows[row], &since_ns);
    if (records == 0 || shipper_close_window(&worker->shipper, false) != 0) return;
    drain_run_whole(&worker->drain);
  }
}

static int close_window(struct worker *worker, bool is_final) {
  worker->drain.has_gone_on = run_note_has_gone_on(worker);
  if (is_final) {
    drain_run_last(&worker->drain, 0);
    ship_histograms(worker);
    /* A file also lists processes without samples. */
    if (worker->keeper->output >= 0) drain_mention_all(&worker->drain);
  } else {
    drain_run_whole(&worker->drain);
  }
  report_residuals(worker);
  int error = shipper_close_window(&worker->shipper, is_final);
  uplink_kick(worker->uplink);
  worker->closed_ns = clock_monotonic_ns();
  return error;
}

int worker_close_window(struct worker *worker) {
  return close_window(worker, false);
}

int worker_close_last_window(struct worker *worker) {
  int error = close_window(worker, true);
  worker->drain.is_over = true;
  return error;
}

/* Adds the pending records of histograms: they are put into the window when it closes. */
static void add_unshipped(const struct worker *worker, uint64_t *start_ns, uint64_t *records) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    uint64_t since_ns = 0;
    uint64_t more = target != NULL ? histogram_drain_unshipped(target, &since_ns) : 0;
    if (more > 0 && (*start_ns == 0 || since_ns < *start_ns)) *start_ns = since_ns;
    *records += more;
  }
}

/* The length of the open window.  In a file, windows are a small part of the run: a difference of
   two files uses time groups as its units, and a run of a second then has about twenty. */
static uint64_t due_ns(const struct worker *worker) {
  uint64_t asked_ns = worker->settings->window_ns;
  if (worker->keeper->output < 0) return budget_window_ns(worker->budget, asked_ns);
  uint64_t age_ns = worker->file_since_ns > 0 ? clock_boottime_ns() - worker->file_since_ns : 0;
  uint64_t part_ns = age_ns / FILE_WINDOWS;
  if (part_ns < FILE_WINDOW_NS_MIN) return FILE_WINDOW_NS_MIN;
  return part_ns < asked_ns ? part_ns : asked_ns;
}

/* Of programs that say what cannot be there may be more records than CPUs have time for, and a
   batch with these is refused (collector/ingest/plausible.h). */
static bool has_too_many_records(uint64_t records) {
  return records >= WINDOW_RECORDS_OF_CPU &&
         records >= (uint64_t)WINDOW_RECORDS_OF_CPU * cpu_list_possible();
}

static bool is_window_due(struct worker *worker) {
  uint64_t start = window_start_ns(worker->window), records = window_records(worker->window);
  if (window_is_nearly_full(worker->window) || has_too_many_records(records)) return true;
  add_unshipped(worker, &start, &records);
  if (start == 0) return false;
  if (worker->file_since_ns == 0) worker->file_since_ns = start;
  uint64_t age = clock_boottime_ns() - start, due = due_ns(worker);
  bool is_worth_it =
      records >= WINDOW_RECORDS_MIN || worker->keeper->output >= 0; /* a reader may want it now */
  return age >= (is_worth_it ? due : WINDOW_NS_LONGEST);
}

static bool is_uplink_connected(const struct worker *worker) {
  struct uplink_figures figures;
  uplink_figures(worker->uplink, &figures);
  return figures.is_connected;
}

static bool is_spool_empty(const struct worker *worker) {
  struct spool_figures figures;
  spool_figures(worker->spool, &figures);
  return figures.entries == 0;
}

static bool is_unneeded(struct worker *worker, uint64_t now) {
  uint64_t patience_ns = worker->keeper->output >= 0 ? PRIVATE_NS : ON_DEMAND_NS;
  if (worker->targets.count > 0) worker->live_ns = now;
  if (!worker->settings->is_on_demand || now - worker->live_ns < patience_ns) return false;
  if (run_note_is_any_running(worker)) { /* an unsampled program has an end, too */
    worker->live_ns = now;
    return false;
  }
  return (is_spool_empty(worker) || !is_uplink_connected(worker));
}

long worker_tick_ms(const struct worker *worker, uint64_t now) {
  if (worker->stop_by_ns != 0) return ending_tick_ms(worker);
  if (worker->drain.figures.fill_percent >= FILL_PERCENT_HIGH) return TICK_FULL_MS;
  if (worker->is_waking || worker->drain.wait.is_on) return TICK_WAKE_MS;
  if (worker->targets.count == 0) return TICK_IDLE_MS;
  if (table_store_is_busy(worker->tables) || run_note_is_any_young(worker, now))
    return TICK_TABLES_MS;
  long ms = worker->targets.ring_bytes > 0 ? TICK_MS : TICK_PERF_MS;
  if (worker->keeper->output >= 0 && due_ns(worker) < (uint64_t)ms * NS_PER_MS)
    ms = (long)(due_ns(worker) / NS_PER_MS);
  return now - worker->busy_ns > QUIET_NS ? 2 * ms : ms;
}

/* The supervisor is updated first: if this worker dies, the next one needs it. */
static void begin_parting(struct worker *worker, struct target *target) {
  if (target->held.is_apart) return;
  target->held.is_apart = true;
  hold_send_update(worker->keeper->worker_socket, &target->held);
}

static void widen(struct worker *worker, struct target *target) {
  begin_parting(worker, target);
  int error = perf_threads_open_wide(&worker->targets, target);
  log_debug("target %u: events on whole CPUs, %llu tasks were too short: %s", target->held.id,
            (unsigned long long)target->rate.unseen_tasks, error ? strerror(-error) : "opened");
}

static void narrow(struct worker *worker, struct target *target) {
  drain_run(&worker->drain);
  int error = perf_threads_narrow(&worker->targets, target, true);
  log_debug("target %u: events of its tree again, %llu samples of others so far: %s",
            target->held.id, (unsigned long long)target->rate.foreign,
            error ? strerror(-error) : "started");
}

static void part_threads(struct worker *worker, struct target *target) {
  begin_parting(worker, target);
  int error = perf_threads_open(&worker->targets, worker->processes, target);
  log_debug("target %u: events of its threads: %s", target->held.id,
            error ? strerror(-error) : "opened");
}

static void switch_all(struct worker *worker, uint64_t now) {
  worker->is_waking = false;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    uint64_t sample_ns = cost_sample_ns(budget_meter(worker->budget), target);
    if (rate_auto_step(target, sample_ns, lock_step_tick_ns()))
      hold_send_update(worker->keeper->worker_socket, &target->held);
    switch_step(target);
    worker->is_waking |= switch_is_waking(target);
    if (perf_threads_is_narrow_due(target, now)) narrow(worker, target);
    if (perf_threads_is_wide_due(&worker->targets, target, now)) widen(worker, target);
    if (perf_threads_is_due(target, now)) part_threads(worker, target);
    stride_vary(target);
  }
}

static void tick(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  table_store_step(worker->tables);
  if (drain_run_patiently(&worker->drain) > 0) worker->busy_ns = now;
  table_store_step(worker->tables); /* builds the tables that the drain has requested */
  regions_step(worker);
  budget_step(worker); /* before anything starts that a change of rate would have to wait for */
  switchboard_look(worker);
  switch_all(worker, now);
  census_step(&worker->targets);
  ladder_step(worker);
  if (now - worker->left_ns >= LEFT_INTERVAL_NS) {
    worker->left_ns = now;
    kept_ship_left(&worker->shipper, worker->settings->state_dir);
  }
  if (now - worker->swept_ns >= SWEEP_INTERVAL_NS) {
    sweep_targets(worker);
    boot_times_look(&worker->boots);
    pipeline_follow_collector(worker);
  }
  if (is_window_due(worker)) close_window(worker, false);
  if (shipper_ship_ends(&worker->shipper)) uplink_kick(worker->uplink);
  spool_sync(worker->spool, false);
  shipper_note_unsaved(&worker->shipper);
  flush_check(worker);
  if (is_unneeded(worker, now)) ending_begin(worker);
}

static void on_tick(evutil_socket_t fd, short what, void *context) {
  struct worker *worker = context;
  (void)fd;
  (void)what;
  if (worker->stop_by_ns == 0) tick(worker);
  if (worker->stop_by_ns != 0 && ending_step(worker)) {
    event_base_loopbreak(worker->loop);
    return;
  }
  worker->tick_ms = worker_tick_ms(worker, clock_monotonic_ns());
  struct timeval next = {worker->tick_ms / 1000, worker->tick_ms % 1000 * 1000};
  event_add(worker->tick, &next);
}

void worker_hurry(struct worker *worker) {
  struct timeval soon = {0, 1000};
  if (worker->tick_ms <= TICK_MS) return;
  worker->tick_ms = 1;
  event_add(worker->tick, &soon);
}

/* On TERM or INT. */
static void on_end(evutil_socket_t fd, short what, void *context) {
  (void)fd;
  (void)what;
  ending_begin(context);
}

/* A table that samples wait for may be ready, and the next can be built. */
static void on_child(evutil_socket_t fd, short what, void *context) {
  struct worker *worker = context;
  (void)fd;
  (void)what;
  table_store_step(worker->tables);
  debug_sender_look(worker->debug);
  if (worker->drain.wait.is_on && drain_run_patiently(&worker->drain) > 0)
    worker->busy_ns = clock_monotonic_ns();
}

static void on_keeper(evutil_socket_t socket, short what, void *context) {
  struct worker *worker = context;
  (void)what;
  if (!hold_has_ended(socket)) return;
  event_del(worker->keeper_gone);
  ending_begin(worker);
}

static void on_packet(void *context, struct intake_packet *packet) {
  struct worker *worker = context;
  switch (packet->request->kind) {
  case INTAKE_TARGET:
    registrar_on_target(worker, packet);
    return;
  case INTAKE_PERF:
    registrar_on_perf(worker, packet);
    return;
  case INTAKE_NOTE:
    registrar_on_note(worker, packet);
    return;
  case INTAKE_FLUSH:
    flush_on_request(worker, packet);
    return;
  case INTAKE_CTL:
    switchboard_on_ctl(worker, packet);
    return;
  case INTAKE_STATUS:
    status_on_request(worker, packet);
    return;
  default:
    intake_refuse(packet->connection, "a request of an unknown kind");
  }
}

static void on_connection_close(void *context, struct intake_connection *connection) {
  flush_forget(context, connection);
}

static int start_events(struct worker *worker) {
  struct event_base *loop = worker->loop;
  worker->tick = event_new(loop, -1, 0, on_tick, worker);
  worker->terminate = evsignal_new(loop, SIGTERM, on_end, worker);
  worker->interrupt = evsignal_new(loop, SIGINT, on_end, worker);
  worker->keeper_gone =
      event_new(loop, worker->keeper->worker_socket, EV_READ | EV_PERSIST, on_keeper, worker);
  worker->child_gone = evsignal_new(loop, SIGCHLD, on_child, worker);
  if (!worker->tick || !worker->terminate || !worker->interrupt || !worker->keeper_gone ||
      !worker->child_gone)
    return -ENOMEM;
  struct timeval soon = {0, 0};
  bool is_added = event_add(worker->terminate, NULL) == 0 &&
                  event_add(worker->child_gone, NULL) == 0 &&
                  event_add(worker->interrupt, NULL) == 0 &&
                  event_add(worker->keeper_gone, NULL) == 0 && event_add(worker->tick, &soon) == 0;
  return is_added ? 0 : -ENOMEM;
}

static int start(struct worker *worker) {
  struct intake_parts intake = {.listener = worker->keeper->listener,
                                .for_all = worker->settings->is_system,
                                .tally = worker->keeper->porter.tally,
                                .tolls = &worker->drain.users,
                                .on_packet = on_packet,
                                .on_close = on_connection_close,
                                .context = worker};
  worker->loop = event_base_new();
  if (worker->loop == NULL) return -ENOMEM;
  intake.loop = worker->loop;
  int error = debug_sender_open(worker->settings->budget_debug_bytes_day, &worker->debug);
  if (!error) error = budget_open(worker, &worker->budget);
  if (!error) error = pipeline_open(worker);
  if (!error) error = pipeline_start_uplink(worker);
  if (!error) error = start_events(worker);
  if (!error) error = ring_wakeup_start(worker);
  if (!error) kept_adopt(worker);
  if (!error) error = intake_start(&intake, &worker->intake);
  if (!error) pipeline_start_board(worker);
  return error;
}

static void stop(struct worker *worker) {
  intake_stop(worker->intake);
  uplink_stop(worker->uplink);
  boot_times_close(&worker->boots);
  debug_sender_close(worker->debug);
  regions_close(worker->regions);
  table_store_free(worker->tables);
  budget_close(worker->budget);
  spool_close(worker->spool);
}

/* By default malloc allocates ever larger blocks from its heap, once a block of that size was
   freed.  A heap shrinks only at its end. */
static void keep_heap_small(void) {
  mallopt(M_MMAP_THRESHOLD, HEAP_PIECE_BYTES_MAX);
  mallopt(M_TRIM_THRESHOLD, HEAP_PIECE_BYTES_MAX);
  mallopt(M_TOP_PAD, HEAP_TOP_BYTES);
}

int worker_run(struct keeper *keeper) {
  keep_heap_small();
  struct worker *worker = calloc(1, sizeof *worker);
  if (worker == NULL) return WORKER_EXIT_FAILED;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGIO, SIG_IGN); /* of a lease: kept_files.c */
  worker->keeper = keeper;
  worker->settings = keeper->settings;
  worker->start_ns = worker->live_ns = worker->busy_ns = clock_monotonic_ns();
  hello_init(worker);
  int error = start(worker);
  if (error) {
    log_error("worker start: %s", strerror(-error));
    return WORKER_EXIT_FAILED;
  }
  event_base_dispatch(worker->loop);
  stop(worker);
  return WORKER_EXIT_DONE;
}
