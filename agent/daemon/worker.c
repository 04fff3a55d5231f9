/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the pipeline out of what the keeper holds, and runs it:

     intake ─▶ targets ◀─ keeper's table
     tick: drain ─▶ window ─▶ batch ─▶ spool ─▶ uplink
                           (when it is full or old, a target ended, FLUSH)

   A tick every 100 ms where a timer ring could fill up, every 200 ms where only the kernel's rings
   (seconds deep) wait, quicker when one is half full, slower when nothing comes.  libevent and
   OpenSSL exist only here: the keeper that this process was forked from has never seen them.

   The window closes after --window when it holds WINDOW_RECORDS_MIN records, else it grows, up to a
   minute: a batch's fixed cost is then shared by more samples.

   Ending, by TERM or by the keeper's end: everything is drained and spooled with final books, the
   disk is synced, and the uplink gets STOP_SEND_NS to deliver what it can. */
#include "worker.h"
#include "budget.h"
#include "hello.h"
#include "intake.h"
#include "kept_files.h"
#include "kept_ship.h"
#include "ladder.h"
#include "run_note.h"
#include "status.h"
#include "switchboard.h"

#include "census/census.h"
#include "common/clock.h"
#include "common/log.h"
#include "drain/histogram_drain.h"
#include "drain/recorder.h"
#include "drain/target_state.h"
#include "keeper/board_events.h"
#include "targets/children.h"
#include "targets/image.h"
#include "targets/perf_threads.h"
#include "targets/stride.h"
#include "targets/switch.h"
#include "uplink/debug_sender.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS_LONGEST (60 * NS_PER_SECOND)
#define SWEEP_INTERVAL_NS (500 * NS_PER_MS)
#define ON_DEMAND_NS (60 * NS_PER_SECOND)  /* an on-demand daemon without targets ends then */
#define STOP_SEND_NS (3 * NS_PER_SECOND)   /* of the 8 s that the keeper waits */
#define FLUSH_GRACE_NS (2 * NS_PER_SECOND) /* for the FLUSH that follows a program's end */
#define FORK_GRACE_NS (2 * NS_PER_SECOND)  /* for a child that begins as its parent ends */
#define LEFT_INTERVAL_NS (10 * NS_PER_SECOND)
#define QUIET_NS (5 * NS_PER_SECOND) /* without records: tick half as often */
#define SPOOL_SYNC_NS (5 * NS_PER_SECOND)

enum {
  WINDOW_RECORDS_MIN = 100,
  LAST_WINDOWS_MAX = 64,
  TICK_MS = 100,
  TICK_PERF_MS = 200,
  TICK_FULL_MS = 20,
  TICK_IDLE_MS = 500,
  FILL_PERCENT_HIGH = 50,
  SEGMENTS_OF_SPOOL = 16,
  HEAP_PIECE_BYTES_MAX = 32 << 10, /* larger ones are mappings of their own */
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

/* What no window has room for at once, before the last one. */
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
  } else {
    drain_run_whole(&worker->drain);
  }
  report_residuals(worker);
  int error = shipper_close_window(&worker->shipper, is_final);
  uplink_kick(worker->uplink);
  return error;
}

int worker_close_window(struct worker *worker) {
  return close_window(worker, false);
}

static void forget_target(struct worker *worker, struct target *target) {
  uint32_t id = target->held.id;
  log_debug("target %d: ended: %llu records", (int)target->held.pid,
            (unsigned long long)target->records);
  run_note_leave(worker, target);
  if (target->held.kind == HOLD_TIMER)
    worker->threads_unsampled += ring_reader_unsampled(&target->ring);
  processes_forget_target(worker->processes, id);
  targets_remove(&worker->targets, target);
  int error = hold_send_drop(worker->keeper->worker_socket, id);
  if (error) log_debug("target %u: the keeper still holds it: %s", id, strerror(-error));
}

/* A window takes less than a histogram may hold: as often as there is something left.  What the
   spool does not take stays for kept_ship_left when it is a file, else it is lost. */
static void drain_last(struct worker *worker, struct target *target) {
  struct counter_page *page = worker->keeper->page;
  uint64_t records;
  int error = 0;
  if (target->held.kind != HOLD_TIMER || target->held.collect != RING_HISTOGRAM) return;
  shipper_close_window(&worker->shipper, false);
  while (!error && (records = histogram_drain_run(&worker->drain, target, true)) > 0)
    error = shipper_close_window(&worker->shipper, false);
  if (!error && target->held.is_file)
    kept_files_remove(worker->settings->state_dir, worker->keeper->run, &target->held);
  if (!error || target->held.is_file) return;
  counter_page_produce(page, records);
  counter_page_drop(page, LOSS_SPOOL_ERROR, records);
}

void worker_end_target(struct worker *worker, struct target *target) {
  bool is_recorder = target->held.kind == HOLD_TIMER && target->held.collect == RING_RECORDER;
  worker->drain.has_gone_on = run_note_has_gone_on(worker);
  if (target->held.kind == HOLD_PERF) drain_residual(&worker->drain, target, true);
  drain_last(worker, target);
  if (is_recorder) kept_ship_target(&worker->shipper, worker->settings->state_dir, target);
  if (target->held.kind == HOLD_TIMER) drain_exits(&worker->drain, target, true);
  shipper_close_window(&worker->shipper, false);
  uplink_kick(worker->uplink);
  forget_target(worker, target);
}

static bool has_process_ended(const struct target *target) {
  struct proc_stat stat;
  if (proc_stat_read(target->held.pid, &stat) < 0) return true;
  if (stat.start_ticks != target->held.start_ticks) return true;
  return stat.state == 'Z' && stat.threads <= 1;
}

void worker_ship_recorders(struct worker *worker, uint32_t note) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->run != note || target->held.kind != HOLD_TIMER) continue;
    if (target->held.collect == RING_RECORDER && recorder_reclaim(target, 0) == 0 &&
        has_process_ended(target))
      kept_ship_target(&worker->shipper, worker->settings->state_dir, target);
  }
}

/* A program that forked and ended has left its ring to a child, which may not have run yet. */
static bool has_left_nobody(struct target *target, uint64_t now) {
  if (children_live(target)) {
    target->ended_ns = 0;
    return false;
  }
  if (target->ended_ns == 0) target->ended_ns = now;
  return !children_are_awaited(target) || now - target->ended_ns >= FORK_GRACE_NS;
}

static bool has_timer_ended(struct target *target, uint64_t now) {
  uint32_t living = target->held.collect == RING_RECORDER ? recorder_reclaim(target, 0)
                                                          : drain_reclaim_slots(target, 0);
  if (living == 0 && has_process_ended(target) && has_left_nobody(target, now)) return true;
  if (target->held.collect == RING_RECORDER || target->held.collect == RING_HISTOGRAM)
    image_stamp(target);
  return false;
}

/* A perf target's event hangs up when the last task of the tree is gone. */
static bool has_target_ended(struct target *target, uint64_t now) {
  if (target->held.kind == HOLD_BOARD) return false;
  if (target->held.kind == HOLD_TIMER) return has_timer_ended(target, now);
  /* Events may end before their program does: ladder.c. */
  bool is_over =
      target_none_since_ns(target) != 0 || target->bad_events > 0 || target_has_hung_up(target);
  if (!is_over || !has_process_ended(target)) return false;
  if (target->ended_ns == 0) target->ended_ns = now;
  bool is_asked_for = target->held.adopted_ns == 0 || target->run != 0; /* by run, with FLUSH */
  return target->is_flushed || !is_asked_for || now - target->ended_ns >= FLUSH_GRACE_NS;
}

bool worker_has_living(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  drain_run(&worker->drain); /* a slot with records in it is somebody's */
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && !has_target_ended(target, now) && target->ended_ns == 0) return true;
  }
  return false;
}

void worker_sweep_targets(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  bool is_drained = false;
  worker->swept_ns = now;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    if (!is_drained && target->held.kind == HOLD_TIMER) {
      drain_run(&worker->drain);
      is_drained = true;
    }
    if (!has_target_ended(target, now)) continue;
    /* Once more: what was written between the last drain and the end. */
    drain_run(&worker->drain);
    worker_end_target(worker, target);
  }
}

/* What waits in histograms: it comes into the window when that closes. */
static void add_unshipped(const struct worker *worker, uint64_t *start_ns, uint64_t *records) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    uint64_t since_ns = 0;
    uint64_t more = target != NULL ? histogram_drain_unshipped(target, &since_ns) : 0;
    if (more > 0 && (*start_ns == 0 || since_ns < *start_ns)) *start_ns = since_ns;
    *records += more;
  }
}

static bool is_window_due(const struct worker *worker) {
  uint64_t start = window_start_ns(worker->window), records = window_records(worker->window);
  if (window_is_nearly_full(worker->window)) return true;
  add_unshipped(worker, &start, &records);
  if (start == 0) return false;
  uint64_t age = clock_boottime_ns() - start;
  uint64_t due = budget_window_ns(worker->budget, worker->settings->window_ns);
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

static void begin_stop(struct worker *worker) {
  if (worker->stop_by_ns != 0) return;
  worker->stop_by_ns = clock_monotonic_ns() + STOP_SEND_NS;
  close_window(worker, true);
  spool_sync(worker->spool, true);
  struct timeval now = {0, 1000};
  event_add(worker->tick, &now);
}

/* Nothing to wait for, or no more time for it. */
static bool is_stop_due(const struct worker *worker) {
  return clock_monotonic_ns() >= worker->stop_by_ns || is_spool_empty(worker) ||
         !is_uplink_connected(worker);
}

static bool is_unneeded(struct worker *worker, uint64_t now) {
  if (worker->targets.count > 0) worker->live_ns = now;
  return worker->settings->is_on_demand && now - worker->live_ns >= ON_DEMAND_NS &&
         (is_spool_empty(worker) || !is_uplink_connected(worker));
}

static long tick_ms(const struct worker *worker, uint64_t now) {
  if (worker->stop_by_ns != 0) return TICK_FULL_MS;
  if (worker->drain.figures.fill_percent >= FILL_PERCENT_HIGH) return TICK_FULL_MS;
  if (worker->targets.count == 0) return TICK_IDLE_MS;
  long ms = worker->targets.ring_bytes > 0 ? TICK_MS : TICK_PERF_MS;
  return now - worker->busy_ns > QUIET_NS ? 2 * ms : ms;
}

static void on_uplink_change(void *context) {
  flush_check(context);
}

static int start_uplink(struct worker *worker) {
  bool has_collector =
      worker->keeper->output < 0 &&
      settings_collector(worker->settings, worker->collector, sizeof worker->collector);
  struct uplink_parts parts = {.loop = worker->loop,
                               .spool = worker->spool,
                               .debug = worker->debug,
                               .address = has_collector ? worker->collector : NULL,
                               .certificate_path = worker->certificate,
                               .key_path = worker->key,
                               .ca_path = worker->ca,
                               .fill_hello = hello_fill,
                               .fill_ping = hello_fill_ping,
                               .on_change = on_uplink_change,
                               .context = worker};
  return uplink_start(&parts, &worker->uplink);
}

/* A board may be enrolled, or enrolled elsewhere, while its daemon runs. */
static void follow_collector(struct worker *worker) {
  char address[sizeof worker->collector];
  if (worker->keeper->output >= 0) return;
  if (!settings_collector(worker->settings, address, sizeof address)) return;
  if (strcmp(address, worker->collector) == 0) return;
  struct uplink *old = worker->uplink;
  int error = start_uplink(worker);
  if (error) return;
  uplink_stop(old);
  log_info("uplink %s: the board's collector from now on", address);
}

/* The keeper hears of it first: should this worker die, the next one must know. */
static void part_threads(struct worker *worker, struct target *target) {
  if (!target->held.is_apart) {
    target->held.is_apart = true;
    hold_send_update(worker->keeper->worker_socket, &target->held);
  }
  int error = perf_threads_open(&worker->targets, worker->processes, target);
  log_debug("target %u: events of its threads: %s", target->held.id,
            error ? strerror(-error) : "opened");
}

static void switch_all(struct worker *worker, uint64_t now) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    switch_step(target);
    if (perf_threads_is_due(target, now)) part_threads(worker, target);
    stride_vary(target);
  }
}

static void ship_left(struct worker *worker) {
  worker->left_ns = clock_monotonic_ns();
  kept_ship_left(&worker->shipper, worker->settings->state_dir);
}

static void tick(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  if (drain_run(&worker->drain) > 0) worker->busy_ns = now;
  switchboard_look(worker);
  switch_all(worker, now);
  census_step(&worker->targets);
  ladder_step(worker);
  if (now - worker->left_ns >= LEFT_INTERVAL_NS) ship_left(worker);
  if (now - worker->swept_ns >= SWEEP_INTERVAL_NS) {
    worker_sweep_targets(worker);
    follow_collector(worker);
  }
  if (is_window_due(worker)) close_window(worker, false);
  budget_step(worker);
  spool_sync(worker->spool, false);
  flush_check(worker);
  if (is_unneeded(worker, now)) begin_stop(worker);
}

static void on_tick(evutil_socket_t fd, short what, void *context) {
  struct worker *worker = context;
  (void)fd;
  (void)what;
  if (worker->stop_by_ns == 0) tick(worker);
  if (worker->stop_by_ns != 0 && is_stop_due(worker)) {
    event_base_loopbreak(worker->loop);
    return;
  }
  long ms = tick_ms(worker, clock_monotonic_ns());
  struct timeval next = {ms / 1000, ms % 1000 * 1000};
  event_add(worker->tick, &next);
}

/* TERM or INT. */
static void on_end(evutil_socket_t fd, short what, void *context) {
  (void)fd;
  (void)what;
  begin_stop(context);
}

static void on_keeper(evutil_socket_t socket, short what, void *context) {
  struct worker *worker = context;
  (void)what;
  if (!hold_has_ended(socket)) return;
  event_del(worker->keeper_gone);
  begin_stop(worker);
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

/* An entry left the spool unsent.  Earlier runs have closed their books: the collector sees what is
   missing of them. */
static void on_spool_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct worker *worker = context;
  if (run == worker->keeper->run)
    counter_page_unship(worker->keeper->page, reason, records);
  else
    log_warn("spool run %016llx: %llu records lost: %s", (unsigned long long)run,
             (unsigned long long)records, loss_name(reason));
}

static void on_module_file(void *context, struct span id, const char *path, const char *open_path) {
  struct worker *worker = context;
  if (worker->debug != NULL) debug_sender_note(worker->debug, id, path, open_path);
}

static int open_disk(struct worker *worker) {
  const struct settings *settings = worker->settings;
  char path[SETTINGS_PATH_BYTES];
  struct spool_limits limits = {.bytes_max = settings->spool_bytes,
                                .segment_bytes = settings->spool_bytes / SEGMENTS_OF_SPOOL,
                                .sync_interval_ns = SPOOL_SYNC_NS};
  if (!settings_path(settings->state_dir, "spool", path) ||
      !settings_path(settings->state_dir, "board.pem", worker->certificate) ||
      !settings_path(settings->state_dir, "board.key", worker->key) ||
      !settings_path(settings->state_dir, "ca.pem", worker->ca) ||
      !settings_path(settings->state_dir, "disable", worker->kill_path))
    return -ENAMETOOLONG;
  int error = spool_open(path, &limits, on_spool_loss, worker, &worker->spool);
  if (error) log_error("spool %s: cannot be opened: %s", path, strerror(-error));
  return error;
}

/* Of daemons that died: what cannot be spooled now is tried again by the next worker. */
static void close_old_runs(struct worker *worker) {
  char path[SETTINGS_PATH_BYTES];
  struct counter_page *old;
  if (!settings_path(worker->settings->runtime_dir, "books", path)) return;
  for (unsigned i = 0; i < COUNTER_PAGE_OLD_MAX; i++) {
    int error = counter_page_open_old(path, i, &old);
    if (!error) {
      error = shipper_close_old_run(&worker->shipper, old);
      counter_page_close(old);
    }
    if (error == -ENOENT) continue;
    if (error == 0 || error == -EBADMSG)
      counter_page_remove_old(path, i);
    else
      log_warn("books %s.old.%u: not closed: %s", path, i, strerror(-error));
  }
}

static int open_pipeline(struct worker *worker) {
  struct keeper *keeper = worker->keeper;
  perf_rings_map(&keeper->perf);
  targets_restore(&worker->targets, &keeper->held, &keeper->perf);
  int error = modules_new(on_module_file, worker, &worker->modules);
  if (!error) error = processes_new(worker->modules, &worker->processes);
  if (!error) error = window_new(worker->modules, &worker->window);
  worker->drain = (struct drain){.page = keeper->page,
                                 .targets = &worker->targets,
                                 .processes = worker->processes,
                                 .modules = worker->modules,
                                 .window = worker->window,
                                 .perf = &keeper->perf,
                                 .allow = &worker->settings->allow,
                                 .deny = &worker->settings->deny};
  if (!error) error = drain_init(&worker->drain);
  if (!error && worker->settings->is_whole_board)
    kernel_frames_open(&worker->drain.kernel, worker->modules);
  if (!error) error = open_disk(worker);
  if (error) return error;
  if (keeper->output >= 0) error = profile_file_resume(keeper->output, &worker->file);
  if (error) return error;
  worker->shipper = (struct shipper){.drain = &worker->drain, .spool = worker->spool};
  if (keeper->output >= 0) worker->shipper.file = &worker->file;
  drain_recover(&worker->drain);
  shipper_recover(&worker->shipper);
  /* Before the old runs get another batch, and before anything is sent: see kept_ship.c. */
  kept_ship_settle(&worker->shipper, worker->settings->state_dir);
  close_old_runs(worker);
  ship_left(worker);
  return 0;
}

static int start_events(struct worker *worker) {
  struct event_base *loop = worker->loop;
  worker->tick = event_new(loop, -1, 0, on_tick, worker);
  worker->terminate = evsignal_new(loop, SIGTERM, on_end, worker);
  worker->interrupt = evsignal_new(loop, SIGINT, on_end, worker);
  worker->keeper_gone =
      event_new(loop, worker->keeper->worker_socket, EV_READ | EV_PERSIST, on_keeper, worker);
  if (!worker->tick || !worker->terminate || !worker->interrupt || !worker->keeper_gone)
    return -ENOMEM;
  struct timeval soon = {0, 0};
  bool is_added = event_add(worker->terminate, NULL) == 0 &&
                  event_add(worker->interrupt, NULL) == 0 &&
                  event_add(worker->keeper_gone, NULL) == 0 && event_add(worker->tick, &soon) == 0;
  return is_added ? 0 : -ENOMEM;
}

static void start_board(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.kind == HOLD_BOARD)
      board_events_start(target->fds, target->held.fd_count);
  }
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
  if (!error) error = open_pipeline(worker);
  if (!error) error = start_uplink(worker);
  if (!error) error = start_events(worker);
  if (!error) error = intake_start(&intake, &worker->intake);
  if (!error) start_board(worker);
  return error;
}

static void stop(struct worker *worker) {
  intake_stop(worker->intake);
  uplink_stop(worker->uplink);
  debug_sender_close(worker->debug);
  budget_close(worker->budget);
  spool_close(worker->spool);
}

/* Left alone, malloc takes ever larger pieces from its heap once it has seen one freed, and a heap
   is only given back from its end. */
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
