/* SPDX-License-Identifier: Apache-2.0 */
/* A timer does not sample everything: it misses threads beyond the ring's slots, a thread's last
   partial period, and programs that do not load the agent. At the end the kernel reports to `run`
   the CPU time of its tree. The part that samples do not account for becomes one record,
   [unsampled], so that the total is right whatever was missed.

   A note is one run. A target belongs to the note of its nearest ancestor, by the parents in /proc
   when it registers. A process that has lost its parent is not found, and the kernel does not
   charge it to the tree either. Time accounted for by targets stays in the note after their end. A
   nested run adds its reported time to the outer run's. If perf samples it, it adds the time that
   the kernel counted (its own rest is in residual.c).

   Notes are in the worker's memory. If a worker is killed, it is unknown which time was sampled. So
   the run's rest is not reported. The total is then too low, but no time counts twice.

   Samples are an estimate, one period each. If they exceed the kernel's total, there is no rest;
   nothing is subtracted. */
#include "run_note.h"
#include "intake.h"
#include "sweep.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/path.h"
#include "drain/target_state.h"
#include "intake/unwind_choice.h"
#include "proc/proc_stat.h"
#include "proto/batch.h"
#include "ring/ring_clock.h"

#include <stdio.h>
#include <string.h>

enum {
  ANCESTORS_MAX = 32, /* generations of ancestors searched for a note */
  WORKER_NOTES_OF_USER = WORKER_NOTES_MAX / 4 * 3, /* of runs that have not ended */
};

#define TELL_GRACE_NS (60 * NS_PER_SECOND) /* for the end report of a run with a dead program */
/* Minimum age of a window to be ended for a run.  The middle of a younger window is in the run, if
   that lasts as long.  This bounds the windows of many runs that begin at once. */
#define OWN_WINDOW_NS (200 * NS_PER_MS)
#define THEIR_WINDOW_NS (10 * NS_PER_SECOND) /* for other users in a daemon for all users */

static struct worker_note *find_serial(struct worker *worker, uint32_t serial) {
  for (unsigned i = 0; serial != 0 && i < WORKER_NOTES_MAX; i++)
    if (worker->notes[i].serial == serial) return &worker->notes[i];
  return NULL;
}

/* Any timer: the agent's samplers, which miss time that the kernel counts. */
static bool is_by_agent(const char *sampler) {
  return ring_clock_parse(sampler) >= 0;
}

/* NOTE, or the nearest enclosing note, with a program sampled by timer. */
static struct worker_note *find_timer(struct worker *worker, struct worker_note *note) {
  while (note != NULL && !is_by_agent(note->sampler)) note = find_serial(worker, note->outer);
  return note;
}

struct worker_note *run_note_find_pid(struct worker *worker, pid_t pid) {
  struct worker_note *found = NULL;
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    struct worker_note *note = &worker->notes[i];
    if (note->serial == 0 || note->pid != pid) continue;
    if (found == NULL || note->serial > found->serial) found = note;
  }
  return found;
}

struct worker_note *run_note_find(struct worker *worker, pid_t pid) {
  struct proc_stat stat;
  for (unsigned up = 0; pid > 1 && up < ANCESTORS_MAX; up++) {
    struct worker_note *note = run_note_find_pid(worker, pid);
    if (note != NULL) return note;
    if (proc_stat_read(pid, &stat) < 0) return NULL;
    pid = stat.parent;
  }
  return NULL;
}

bool run_note_does_run(const struct worker_note *note) {
  return note->serial != 0 && proc_lives(note->pid, note->start_ticks);
}

bool run_note_is_any_young(const struct worker *worker, uint64_t now_ns) {
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    const struct worker_note *note = &worker->notes[i];
    if (note->serial != 0 && now_ns - note->begun_ns < RUN_NOTE_YOUNG_NS) return true;
  }
  return false;
}

bool run_note_is_any_running(const struct worker *worker) {
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++)
    if (run_note_does_run(&worker->notes[i])) return true;
  return false;
}

/* Returns whether a caller still waits for the result of NOTE's samples (flush.c). */
static bool is_awaited(const struct worker *worker, const struct worker_note *note) {
  for (unsigned i = 0; note->serial != 0 && i < WORKER_FLUSHES_MAX; i++)
    if (worker->flushes[i].connection != NULL && worker->flushes[i].note == note->serial)
      return true;
  return false;
}

/* Returns a free note, else the oldest with a reported rest, else one whose `run` will never report
   it. NULL if all are in use. */
static struct worker_note *find_place(struct worker *worker) {
  struct worker_note *ended = NULL;
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    struct worker_note *note = &worker->notes[i];
    if ((note->serial != 0 && !note->is_told) || is_awaited(worker, note)) continue;
    if (ended == NULL || note->serial < ended->serial) ended = note;
  }
  for (unsigned i = 0; i < WORKER_NOTES_MAX && ended == NULL; i++) {
    struct worker_note *note = &worker->notes[i];
    bool is_late = clock_monotonic_ns() - note->begun_ns >= TELL_GRACE_NS;
    if (is_late && !run_note_does_run(note)) ended = note;
  }
  return ended;
}

/* In a daemon for all users, only root may use all notes. */
static bool has_share(const struct worker *worker, uint32_t uid) {
  unsigned count = 0;
  if (!worker->settings->is_system || uid == 0) return true;
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    const struct worker_note *note = &worker->notes[i];
    count += note->serial != 0 && !note->is_told && note->uid == uid;
  }
  return count < WORKER_NOTES_OF_USER;
}

/* If all rows are taken, drops the oldest: its batch then counts as stored when it leaves the
   spool. */
static void add_row(struct worker *worker, const struct run_batch *row) {
  struct run_batch *rows = worker->run_batches;
  if (worker->run_batch_count == WORKER_RUN_BATCHES_MAX)
    memmove(rows, rows + 1, --worker->run_batch_count * sizeof *rows);
  rows[worker->run_batch_count++] = *row;
}

void run_note_on_batch(void *context, uint64_t seq) {
  struct worker *worker = context;
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    struct worker_note *note = &worker->notes[i];
    if (note->serial == 0) continue;
    struct run_samples samples = run_note_samples(worker, note);
    uint64_t taken = samples.by_agent + samples.by_perf;
    if (taken <= note->spooled) continue;
    struct run_batch row = {seq, taken - note->spooled, note->serial};
    note->spooled = taken;
    if (seq == 0)
      note->lost += row.records;
    else
      add_row(worker, &row);
  }
}

void run_note_on_answer(struct worker *worker, uint64_t seq, const char *refusal) {
  unsigned kept = 0;
  for (unsigned i = 0; i < worker->run_batch_count; i++) {
    const struct run_batch row = worker->run_batches[i];
    struct worker_note *note = row.seq == seq ? find_serial(worker, row.note) : NULL;
    if (row.seq != seq) worker->run_batches[kept++] = row;
    if (note == NULL || refusal == NULL) continue;
    note->lost += row.records;
    snprintf(note->refusal, sizeof note->refusal, "%s", refusal);
  }
  worker->run_batch_count = kept;
}

uint64_t run_note_lost(struct worker *worker, uint32_t serial, uint64_t seq,
                       char ret[INTAKE_WHY_BYTES]) {
  struct worker_note *note = find_serial(worker, serial);
  unsigned kept = 0;
  ret[0] = '\0';
  if (note == NULL) return 0;
  for (unsigned i = 0; i < worker->run_batch_count; i++) {
    const struct run_batch row = worker->run_batches[i];
    if (row.note == serial && row.seq <= seq)
      note->lost += row.records; /* no room in the spool, or unreadable */
    else
      worker->run_batches[kept++] = row;
  }
  worker->run_batch_count = kept;
  memcpy(ret, note->refusal, sizeof note->refusal);
  return note->lost;
}

const char *run_note_add(struct worker *worker, const struct intake_packet *packet,
                         const char *sampler, uint32_t asked_mhz) {
  const struct intake_request *request = packet->request;
  struct proc_stat stat;
  const struct worker_note *outer = NULL, *same = run_note_find_pid(worker, request->pid);
  bool is_there = proc_stat_read(request->pid, &stat) == 0;
  if (same != NULL && !same->is_told && is_there && same->start_ticks == stat.start_ticks)
    return "this run is noted already";
  struct worker_note *note = has_share(worker, packet->uid) ? find_place(worker) : NULL;
  if (note == NULL) return "64 runs at once, or three quarters of that by one user, are noted";
  if (is_there) outer = find_timer(worker, run_note_find(worker, stat.parent));
  uint32_t outer_serial = outer ? outer->serial : 0;
  *note = (struct worker_note){
      .serial = ++worker->last_note,
      .outer = outer_serial,
      .pid = request->pid,
      .begun_ns = clock_monotonic_ns(),
      .target = worker->targets.next_id++,
      .uid = packet->uid,
      .collect = request->collect,
      .unwind = request->unwind != UNWIND_CHOICE_AUTO ? request->unwind : worker->settings->unwind,
      .is_told = !is_by_agent(sampler),
      .asked_mhz = asked_mhz,
      .is_auto_rate = request->asked_mhz == 0};
  if (is_there) note->start_ticks = stat.start_ticks;
  snprintf(note->sampler, sizeof note->sampler, "%s", sampler);
  memcpy(note->why, request->why, sizeof note->why);
  memcpy(note->service, request->service, sizeof note->service);
  memcpy(note->labels, request->labels, sizeof note->labels);
  memcpy(note->exe, request->exe, sizeof note->exe);
  snprintf(note->begun_as, sizeof note->begun_as, "%.15s", path_name(request->exe));
  return NULL;
}

void run_note_begin_window(struct worker *worker, uint32_t uid) {
  bool is_theirs = worker->settings->is_system && uid != 0;
  uint64_t age_ns = clock_monotonic_ns() - worker->closed_ns;
  if (age_ns >= (is_theirs ? THEIR_WINDOW_NS : OWN_WINDOW_NS)) worker_close_window(worker);
}

/* Prepends to WHY that a program of the run is not sampled because of REASON.  The end is cut if it
   gets too long.  Returns false if WHY contains that already. */
static bool add_stray_reason(char why[INTAKE_WHY_BYTES], const char *reason) {
  char before[INTAKE_WHY_BYTES], news[INTAKE_WHY_BYTES];
  memcpy(before, why, sizeof before);
  snprintf(news, sizeof news, "not sampled: a program that it started: %s", reason);
  if (strstr(before, news) != NULL) return false;
  return snprintf(why, INTAKE_WHY_BYTES, "%s%s%s", news, before[0] != '\0' ? "; " : "", before) > 0;
}

void run_note_refuse(struct worker *worker, pid_t pid, const char *why) {
  struct worker_note *note = run_note_find(worker, pid);
  if (note == NULL) return;
  log_debug("target %d: not sampled: %s", (int)pid, why); /* a build may start thousands */
  if (note->pid == pid) {
    note->is_refused = true;
    snprintf(note->why, sizeof note->why, "%s", why);
    return;
  }
  note->is_partial = true;
  add_stray_reason(note->why, why);
  /* The run's own program has samples, so its target reports for the run. */
  struct target *target = targets_find(&worker->targets, note->target);
  if (target == NULL) return;
  target->has_strays = true;
  if (add_stray_reason(target->held.why, why))
    hold_send_update(worker->keeper->worker_socket, &target->held);
}

void run_note_join(struct worker *worker, struct target *target) {
  struct worker_note *note = find_timer(worker, run_note_find(worker, target->held.pid));
  bool is_perf = target->held.kind == HOLD_PERF;
  bool is_own = is_perf && target->held.adopted_ns == 0; /* `run` opened its events */
  if (note == NULL || (is_own && note->pid == target->held.pid)) return;
  target->run = note->serial;
  note->is_met |= note->pid == target->held.pid;
  if (is_perf || note->pid != target->held.pid) return;
  /* The program's own path is more exact than the command line's. */
  note->target = target->held.id;
  if (target->held.exe[0] != '\0') memcpy(note->exe, target->held.exe, sizeof note->exe);
}

static uint64_t explained_ns(const struct target *target) {
  if (target->held.kind == HOLD_PERF) return residual_own_ns(&target->residual);
  return target->weight_ns + target->exit.billed_ns - target->exit.perf_ns;
}

/* Returns whether TARGET's samples belong to the run. TARGET is then one of the run's targets, its
   tree by perf, or the program's ring started when perf failed (ladder.c). */
static bool is_part(const struct worker_note *note, const struct target *target) {
  if (note->serial == 0) return false;
  bool is_by_perf = !is_by_agent(note->sampler);
  return target->run == note->serial || (is_by_perf && target->held.pid == note->pid);
}

static void add_samples(const struct target *target, struct run_samples *sum) {
  const struct residual *residual = &target->residual;
  uint64_t own_ns = residual_own_ns(residual), rest_ns = residual->reported_rest_ns;
  if (target->held.kind == HOLD_PERF) {
    sum->by_perf += target->records;
    sum->shown_ns += own_ns > rest_ns ? own_ns - rest_ns : 0;
  } else {
    sum->by_agent += target->records;
    sum->shown_ns += target->weight_ns;
  }
}

/* The reasons known at TARGET's end apply to the unsampled time of NOTE. */
static void keep_why(struct worker_note *note, const struct target *target) {
  char unsampled[CENSUS_WHY_BYTES];
  if (target->held.kind != HOLD_TIMER) return;
  note->marks |= target_unsampled_marks(target);
  target_explain_unsampled(target, unsampled);
  if (unsampled[0] != '\0' || (target->held.id == note->target && !note->is_partial))
    target_explain(target, note->why, sizeof note->why);
}

void run_note_leave(struct worker *worker, const struct target *target) {
  drain_leave(&worker->drain, target);
  struct worker_note *note = find_serial(worker, target->run);
  if (note != NULL) {
    note->explained_ns += explained_ns(target);
    keep_why(note, target);
  }
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++)
    if (is_part(&worker->notes[i], target)) add_samples(target, &worker->notes[i].samples);
}

struct run_samples run_note_samples(const struct worker *worker, const struct worker_note *note) {
  struct run_samples sum = note->samples;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && is_part(note, target)) add_samples(target, &sum);
  }
  return sum;
}

void run_note_samplers(const struct worker_note *note, const struct run_samples *samples,
                       char ret[INTAKE_SAMPLERS_BYTES]) {
  const char *agent = is_by_agent(note->sampler) ? note->sampler : "timer", *name = note->sampler;
  bool is_both = samples->by_agent > 0 && samples->by_perf > 0;
  if (samples->by_agent > 0) name = agent;
  if (samples->by_perf > 0) name = "perf";
  snprintf(ret, INTAKE_SAMPLERS_BYTES, "%s%s%s", is_both ? agent : "", is_both ? " and " : "",
           name);
}

void run_note_unsampled(const struct worker *worker, const struct worker_note *note,
                        char ret[INTAKE_WHY_BYTES]) {
  struct run_samples samples = run_note_samples(worker, note);
  uint64_t spent_ns = note->spent_ns > note->stray_ns ? note->spent_ns : note->stray_ns;
  uint64_t unsampled_ns = spent_ns > samples.shown_ns ? spent_ns - samples.shown_ns : 0;
  ret[0] = '\0';
  if (note->spent_ns == 0 || (double)unsampled_ns < PSEUDO_TOLD_SHARE * (double)spent_ns) return;
  const char *why = strstr(note->why, "not sampled: ");
  if (why == NULL && !note->is_met && is_by_agent(note->sampler)) why = note->why;
  int len = snprintf(ret, INTAKE_WHY_BYTES, "%.0f %% of its CPU time is [unsampled]",
                     100 * (double)unsampled_ns / (double)spent_ns);
  if (why == NULL) why = "its report says what helps";
  int room = INTAKE_WHY_BYTES - 1 - len - (int)strlen(": ");
  snprintf(ret + len, INTAKE_WHY_BYTES - (size_t)len, ": %.*s", room, why);
}

unsigned run_note_living(const struct worker *worker, const struct worker_note *note) {
  unsigned count = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    count += target != NULL && target->held.behind == 0 && is_part(note, target);
  }
  return count;
}

bool run_note_has_gone_on(struct worker *worker) {
  unsigned noted = 0;
  if (worker->keeper->output < 0) return false;
  for (unsigned i = 0; i < WORKER_NOTES_MAX; i++) {
    if (run_note_does_run(&worker->notes[i])) return false;
    noted += worker->notes[i].serial != 0;
  }
  return noted > 0 && sweep_has_living(worker); /* without a note there is no defined end */
}

static uint64_t sum_explained(const struct worker *worker, const struct worker_note *note) {
  uint64_t sum = note->explained_ns;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->run == note->serial) sum += explained_ns(target);
  }
  return sum;
}

/* Reports the rest under the program's own target if it is there, else under one made from the
   note, with the same id. */
static void report_rest(struct worker *worker, const struct worker_note *note, uint64_t rest_ns) {
  struct target *live = targets_find(&worker->targets, note->target), ended = {.run = note->serial};
  if (live == NULL) {
    struct hold_target *held = &ended.held;
    held->id = note->target;
    held->kind = HOLD_TIMER;
    held->clock = (uint32_t)ring_clock_parse(note->sampler);
    held->pid = note->pid;
    held->asked_mhz = note->asked_mhz;
    memcpy(held->service, note->service, sizeof held->service);
    memcpy(held->labels, note->labels, sizeof held->labels);
    memcpy(held->exe, note->exe, sizeof held->exe);
    memcpy(held->why, note->why, sizeof held->why);
    memcpy(ended.root_comm, note->begun_as, sizeof ended.root_comm);
    memcpy(ended.root_begun_as, note->begun_as, sizeof ended.root_begun_as);
  }
  /* The window with the rest also gets its reason. */
  if (live != NULL) live->has_strays |= note->is_partial;
  drain_rest(&worker->drain, live ? live : &ended, rest_ns);
  if (live != NULL) return;
  struct window_told told = {
      .sampler = note->sampler, .asked_mhz = note->asked_mhz, .marks = note->marks};
  if (note->is_partial || !note->is_met) told.marks |= MARK_UNREACHED;
  memcpy(told.why, note->why, sizeof told.why);
  window_tell_target(worker->drain.window, note->target, &told);
}

void run_note_tell(struct worker *worker, struct worker_note *note, uint64_t told_ns) {
  /* A repeated report, or a program that ran unchanged. */
  if (note->is_told || !is_by_agent(note->sampler)) return;
  drain_run_last(&worker->drain, note->serial);
  sweep_ship_recorders(worker, note->serial);
  /* Each ended program accounts for its own time first; a program that continues in its children
     for the time so far. */
  sweep_targets(worker);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && target->run == note->serial && target->held.kind == HOLD_TIMER)
      drain_exits(&worker->drain, target, false);
  }
  uint64_t explained = sum_explained(worker, note);
  /* Strays without a waiting parent are missing in the accounting of `run`. */
  if (note->stray_ns > told_ns) told_ns = note->stray_ns;
  note->is_told = true;
  struct worker_note *outer = find_serial(worker, note->outer);
  if (outer != NULL) outer->explained_ns += told_ns > explained ? told_ns : explained;
  if (told_ns > explained) report_rest(worker, note, told_ns - explained);
}
