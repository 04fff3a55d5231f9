/* SPDX-License-Identifier: Apache-2.0 */
/* A target has ended when none of its processes is left, which each kind detects in its own way.  A
   perf target's events hang up (or were removed, ladder.c); a timer target's ring has no slot with
   an owner.  Both wait a moment more: perf for the FLUSH that brings exact times, the timer for a
   child that begins as its parent ends.

   An end closes the window, so that the program is in the next answer (shipper.c: many ends share
   one).  The rest of its ring (histogram, recorder) is shipped in its own batches, and the
   supervisor drops its descriptors. */
#include "sweep.h"
#include "budget.h"
#include "kept_files.h"
#include "kept_ship.h"
#include "run_note.h"

#include "common/clock.h"
#include "common/log.h"
#include "drain/histogram_drain.h"
#include "drain/recorder.h"
#include "drain/target_state.h"
#include "proc/proc_stat.h"
#include "ring/image_format.h"
#include "targets/children.h"
#include "targets/image.h"

#include <string.h>

#define FLUSH_GRACE_NS (2 * NS_PER_SECOND) /* for the FLUSH after a program's end */
#define FORK_GRACE_NS (2 * NS_PER_SECOND)  /* for a child that begins as its parent ends */

static void forget_target(struct worker *worker, struct target *target) {
  uint32_t id = target->held.id;
  log_debug("target %d: ended: %llu records", (int)target->held.pid,
            (unsigned long long)target->records);
  run_note_leave(worker, target);
  budget_note_end(worker->budget, target);
  if (target->held.kind == HOLD_TIMER)
    worker->threads_unsampled += ring_reader_unsampled(&target->ring);
  processes_forget_target(worker->processes, id);
  targets_remove(&worker->targets, target);
  int error = hold_send_drop(worker->keeper->worker_socket, id);
  if (error) log_debug("target %u: the keeper still holds it: %s", id, strerror(-error));
}

/* A histogram may exceed one window: repeats until it is empty.  Data that the spool rejects is
   left to kept_ship_left if it is in a file, else it is lost. */
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

void sweep_end_target(struct worker *worker, struct target *target) {
  bool is_recorder = target->held.kind == HOLD_TIMER && target->held.collect == RING_RECORDER;
  worker->drain.has_gone_on = run_note_has_gone_on(worker);
  if (target->held.kind == HOLD_PERF) drain_residual(&worker->drain, target, true);
  drain_last(worker, target);
  if (is_recorder) kept_ship_target(&worker->shipper, worker->settings->state_dir, target);
  if (target->held.kind == HOLD_TIMER) drain_exits(&worker->drain, target, true);
  shipper_end_target(&worker->shipper, target->held.id);
  forget_target(worker, target);
}

static bool has_process_ended(const struct target *target) {
  return !proc_lives(target->held.pid, target->held.start_ticks);
}

void sweep_ship_recorders(struct worker *worker, uint32_t note) {
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
  if (ring_has_image(target->held.collect)) image_stamp(target);
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

bool sweep_has_living(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  drain_run(&worker->drain); /* a slot with records is in use */
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && !has_target_ended(target, now) && target->ended_ns == 0) return true;
  }
  return false;
}

static bool has_timers(const struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.kind == HOLD_TIMER) return true;
  }
  return false;
}

void sweep_targets(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  struct target *ended[HOLD_TARGETS_MAX];
  uint32_t count = 0;
  worker->swept_ns = now;
  if (has_timers(worker)) drain_run(&worker->drain);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && has_target_ended(target, now)) ended[count++] = target;
  }
  /* Drain again: records between the last drain and the ends. */
  if (count > 0) drain_run(&worker->drain);
  for (uint32_t i = 0; i < count; i++) sweep_end_target(worker, ended[i]);
}
