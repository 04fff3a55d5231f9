/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the worker's parts: the supervisor's table becomes targets, the state directory a spool,
   and the uplink follows the board's enrolment.

   The order of closing the accounting matters: first the window lost with the last worker, then
   incomplete work on the disk, then the runs of earlier daemons. */
#include "pipeline.h"
#include "hello.h"
#include "kept_ship.h"
#include "regions.h"

#include "common/clock.h"
#include "common/log.h"
#include "intake/perf_attr.h"
#include "keeper/board_events.h"
#include "uplink/debug_sender.h"
#include "walk/table_store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SPOOL_SYNC_NS (5 * NS_PER_SECOND)

enum {
  SEGMENTS_OF_SPOOL = 16,
  SPOOL_MEMORY_BYTES = 1 << 20, /* 1 to 2 hours at 10 s windows of 2 KB each */
};

/* An entry was dropped from the spool unsent. Earlier runs have final counters, so the collector
   detects their missing records. */
static void on_spool_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct worker *worker = context;
  if (run == worker->keeper->run)
    counter_page_unship(worker->keeper->page, reason, records);
  else
    log_warn("spool run %016llx: %llu records lost: %s", (unsigned long long)run,
             (unsigned long long)records, loss_name(reason));
}

static void on_spool_answer(void *context, uint64_t run, uint64_t seq, const char *refusal) {
  struct worker *worker = context;
  if (run == worker->keeper->run) run_note_on_answer(worker, seq, refusal);
}

/* Returns whether FD may be held, because a descriptor keeps its file system from being unmounted.
   A file system mounted since the start may be unmounted by the recorded program. */
static bool may_hold(const struct worker *worker, int fd) {
  struct mount_ids now;
  int mount = mount_id_of(fd);
  if (mount_ids_has(&worker->files.mounts, mount)) return true;
  mount_ids_read(&now);
  return !mount_ids_has(&now, mount);
}

/* Names are written when the recording is over (file_names.c). By then a file may be unlinked or
   replaced, or its mount namespace may be gone. So the supervisor holds it from the first sample
   on. */
static void hold_file(struct worker *worker, int fd) {
  struct worker_files *files = &worker->files;
  struct stat found;
  if (fstat(fd, &found) != 0) return;
  for (uint32_t i = 0; i < files->count && i < HOLD_FILES_MAX; i++)
    if (files->rows[i].device == found.st_dev && files->rows[i].inode == found.st_ino) return;
  if (!may_hold(worker, fd) || hold_send_file(worker->keeper->worker_socket, fd) != 0) return;
  uint32_t row = files->count++ % HOLD_FILES_MAX;
  files->rows[row].device = found.st_dev;
  files->rows[row].inode = found.st_ino;
}

static void on_module_file(void *context, const struct module_found *found) {
  struct worker *worker = context;
  if (worker->debug != NULL)
    debug_sender_note(worker->debug, found->id, found->path, found->open_path);
  if (worker->keeper->output >= 0 && found->fd >= 0) hold_file(worker, found->fd);
}

static int open_disk(struct worker *worker) {
  const struct settings *settings = worker->settings;
  char path[SETTINGS_PATH_BYTES];
  struct spool_limits limits = {.bytes_max = settings->spool_bytes,
                                .segment_bytes = settings->spool_bytes / SEGMENTS_OF_SPOOL,
                                .sync_interval_ns = SPOOL_SYNC_NS,
                                .memory_bytes = SPOOL_MEMORY_BYTES};
  if (!settings_path(settings->state_dir, "spool", path) ||
      !settings_path(settings->state_dir, "board.pem", worker->certificate) ||
      !settings_path(settings->state_dir, "board.key", worker->key) ||
      !settings_path(settings->state_dir, "ca.pem", worker->ca) ||
      !settings_path(settings->state_dir, "disable", worker->kill_path))
    return -ENAMETOOLONG;
  char time_path[SETTINGS_PATH_BYTES];
  if (!settings_path(settings->state_dir, "time", time_path)) return -ENAMETOOLONG;
  known_time_init(&worker->time, time_path);
  if (!settings_path(settings->state_dir, "boots", time_path)) return -ENAMETOOLONG;
  boot_times_init(&worker->boots, time_path);
  int error = spool_open(path, &limits, on_spool_loss, worker, &worker->spool);
  if (error) log_error("spool %s: cannot be opened: %s", path, strerror(-error));
  if (!error) spool_hear_answers(worker->spool, on_spool_answer);
  return error;
}

/* Books of crashed daemons. A batch that cannot be spooled now is retried by the next worker. */
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

/* Tables are not kept for a daemon of one file: its directory is deleted with it. */
static int open_tables(struct worker *worker) {
  char path[SETTINGS_PATH_BYTES];
  bool is_kept = worker->keeper->output < 0;
  if (is_kept && !settings_path(worker->settings->state_dir, "tables", path)) return -ENAMETOOLONG;
  return table_store_new(is_kept ? path : NULL, table_job_build, &worker->tables);
}

/* Returns whether events of the board, or of a program that an earlier worker registered, sample
   the kernel. */
static bool samples_kernel(const struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind == HOLD_TIMER) continue;
    if (target->held.content & PERF_CONTENT_KERNEL) return true;
  }
  return false;
}

int pipeline_open(struct worker *worker) {
  struct keeper *keeper = worker->keeper;
  perf_rings_map(&keeper->perf);
  targets_restore(&worker->targets, &keeper->held, &keeper->perf);
  mount_ids_read(&worker->files.mounts);
  int error = modules_new(on_module_file, worker, &worker->modules);
  if (!error) error = processes_new(worker->modules, &worker->processes);
  if (!error) error = window_new(worker->modules, &worker->window);
  if (!error) error = open_tables(worker);
  worker->drain = (struct drain){.page = keeper->page,
                                 .targets = &worker->targets,
                                 .processes = worker->processes,
                                 .modules = worker->modules,
                                 .window = worker->window,
                                 .perf = &keeper->perf,
                                 .tables = worker->tables,
                                 .allow = &worker->settings->allow,
                                 .deny = &worker->settings->deny};
  if (!error) error = regions_open(worker, &worker->regions);
  if (!error) error = drain_init(&worker->drain);
  if (!error && samples_kernel(worker)) kernel_frames_open(&worker->drain.kernel, worker->modules);
  if (!error) error = open_disk(worker);
  if (error) return error;
  if (keeper->output >= 0) error = profile_file_resume(keeper->output, &worker->file);
  if (error) return error;
  worker->shipper = (struct shipper){.drain = &worker->drain,
                                     .spool = worker->spool,
                                     .tell = hello_fill_effort,
                                     .on_batch = run_note_on_batch,
                                     .teller = worker};
  if (keeper->output >= 0) worker->shipper.file = &worker->file;
  drain_recover(&worker->drain);
  shipper_recover(&worker->shipper);
  /* Before the old runs get another batch, and before anything is sent: see kept_ship.c. */
  kept_ship_settle(&worker->shipper, worker->settings->state_dir);
  close_old_runs(worker);
  worker->left_ns = clock_monotonic_ns();
  kept_ship_left(&worker->shipper, worker->settings->state_dir);
  return 0;
}

/* Addresses without names are no obstacle, but are reported. */
static void explain_names(const struct kernel_layout *layout, struct hold_target *held) {
  if (layout->count == 0 && held->why[0] == '\0')
    snprintf(held->why, sizeof held->why, "system: the kernel's functions have no names: %s",
             layout->why);
}

void pipeline_start_board(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind != HOLD_BOARD) continue;
    explain_names(&worker->drain.kernel.layout, &target->held);
    board_events_start(target->fds, target->held.fd_count);
  }
}

static void on_uplink_change(void *context) {
  flush_check(context);
}

int pipeline_start_uplink(struct worker *worker) {
  bool has_collector =
      worker->keeper->output < 0 &&
      settings_collector(worker->settings, worker->collector, sizeof worker->collector);
  struct uplink_parts parts = {.loop = worker->loop,
                               .spool = worker->spool,
                               .debug = worker->debug,
                               .time = &worker->time,
                               .boots = &worker->boots,
                               .address = has_collector ? worker->collector : NULL,
                               .certificate_path = worker->certificate,
                               .key_path = worker->key,
                               .ca_path = worker->ca,
                               .send_bytes = worker->settings->send_bytes,
                               .state_dir = worker->settings->state_dir,
                               .fill_hello = hello_fill,
                               .fill_ping = hello_fill_ping,
                               .on_change = on_uplink_change,
                               .context = worker};
  return uplink_start(&parts, &worker->uplink);
}

void pipeline_follow_collector(struct worker *worker) {
  char address[sizeof worker->collector];
  if (worker->keeper->output >= 0) return;
  if (!settings_collector(worker->settings, address, sizeof address)) return;
  if (strcmp(address, worker->collector) == 0) return;
  struct uplink *old = worker->uplink;
  int error = pipeline_start_uplink(worker);
  if (error) return;
  uplink_stop(old);
  log_info("uplink %s: the board's collector from now on", address);
}
