/* SPDX-License-Identifier: Apache-2.0 */
/* FLUSH is how `run` ends: its program is gone, and it wants to say either that the samples are
   with the collector or that they are safe here.  Everything is drained and spooled at once, or,
   where samples of a program that was over before its tables were made still wait for these, with
   the tick that finds them made, TABLES_NS later at the most; then
   the caller waits for the ack, no longer than it said and not at all when there is nobody to
   wait for (no collector, or the last attempt to reach it failed).

   A little longer than for the ack: when a batch showed modules that the collector has not seen,
   it asks for their debug files a moment later, and whoever looks at the profile next should find
   names.  So the wait goes on for SETTLE_NS and then until no file is on its way, within the same
   deadline; samples that are acked by then are reported as acked whatever became of the files.

   A window that is closed is everybody's, so in a daemon for all a user closes it once for each of
   his programs that has ended; whatever else he asks waits for what is spooled by then.  Places to
   wait are limited, each user apart; but what a program has spent is told first and needs none. */
#include "flush.h"
#include "ending.h"
#include "intake.h"
#include "run_note.h"
#include "sweep.h"
#include "worker.h"

#include "common/clock.h"
#include "proc/proc_stat.h"
#include "ring/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_NS (250 * NS_PER_MS)        /* for the collector to ask for files of new modules */
#define ANSWER_BEFORE_NS (200 * NS_PER_MS) /* of the caller's deadline */
#define TABLES_NS (500 * NS_PER_MS)        /* for tables that are being made */
#define DEADLINE_MS_MAX 600000ULL

/* A parent's word is the whole bill where the tree has no target within it. */
static void take_bill(struct target *target, uint64_t total_ns) {
  struct residual *residual = &target->residual;
  target_read_total(target);
  struct steal_look look = {.counted_ns = residual->counted_ns,
                            .billed_ns = total_ns,
                            .is_partial = residual->left_ns + residual->elsewhere_ns > 0};
  proc_board_read(&look.board);
  residual_look(residual, &look);
}

/* The exact times of the ended program's tree, as its parent was told.  A program that switches a
   hundred thousand times a second spends a few per cent within the switches themselves, where its
   perf events do not run: the kernel bills that to it all the same.  Of a run by timer the times
   say what its samples do not explain (run_note.c). */
static void take_times(struct worker *worker, const struct flush_account *account) {
  struct target *target = targets_find_pid(&worker->targets, account->pid);
  uint64_t total_ns = account->user_ns + account->system_ns;
  struct worker_note *note = run_note_find_pid(worker, account->pid);
  bool is_perf = target != NULL && target->held.kind == HOLD_PERF;
  if (target != NULL) target->is_flushed = true;
  if (note != NULL) note->spent_ns = total_ns;
  /* Of a run that began by timer the account is the note's, however it went on (ladder.c). */
  bool is_notes = note != NULL && (!is_perf || target->run == note->serial);
  if (is_notes) run_note_tell(worker, note, total_ns);
  if (is_notes || !is_perf) return;
  struct residual *residual = &target->residual;
  if (account->system_ns > residual->kernel_ns) residual->kernel_ns = account->system_ns;
  residual_hear(residual, total_ns);
  take_bill(target, total_ns);
}

static bool is_permitted(struct worker *worker, const struct intake_packet *packet) {
  const struct target *target = targets_find_pid(&worker->targets, packet->request->pid);
  const struct worker_note *note = run_note_find_pid(worker, packet->request->pid);
  if (packet->uid == 0) return true;
  if (note != NULL && note->uid != packet->uid) return false;
  return target == NULL || target->held.uid == packet->uid || note != NULL;
}

/* Nobody's word makes a board's total: no tree spends more than all CPUs had since it began. */
static bool is_believable(struct worker *worker, const struct intake_request *request) {
  const struct target *target = targets_find_pid(&worker->targets, request->pid);
  const struct worker_note *note = run_note_find_pid(worker, request->pid);
  if (target == NULL && note == NULL) return true; /* an account that is not known: not read */
  uint64_t most = note != NULL ? target_cpu_ns_within(clock_monotonic_ns() - note->begun_ns)
                               : target_cpu_ns_max(target);
  return request->user_ns <= most && request->system_ns <= most - request->user_ns;
}

/* True when PID, which is told to have ended, has, and for the first time. */
static bool is_news(struct worker *worker, pid_t pid) {
  const struct target *target = targets_find_pid(&worker->targets, pid);
  struct worker_note *note = run_note_find_pid(worker, pid);
  if (note == NULL)
    return target != NULL && !target->is_flushed &&
           !proc_lives(target->held.pid, target->held.start_ticks);
  if (note->is_flushed || run_note_does_run(note)) return false;
  return note->is_flushed = true;
}

/* Of a file the books say what is in it, whoever was killed meanwhile. */
static void tell_file(const struct worker *worker, struct intake_reply *reply) {
  const struct counters *books = counter_page_books(worker->keeper->page);
  uint64_t lost = books->dropped[LOSS_SPOOL_ERROR];
  reply->has_count = 1;
  reply->count = books->shipped;
  if (lost > 0)
    snprintf(reply->why, sizeof reply->why, "%llu more could not be written: %s",
             (unsigned long long)lost, strerror(abs(worker->shipper.lost_error)));
}

/* What does not fit beside a reason for waiting is in the report. */
static void add_unsampled(const struct worker_flush *flush, struct intake_reply *reply) {
  size_t len = strlen(reply->why);
  if (flush->unsampled[0] != '\0')
    snprintf(reply->why + len, sizeof reply->why - len, "%s%s", len > 0 ? "; " : "",
             flush->unsampled);
}

/* What has left the spool need not be stored: some of it may have been refused for good. */
static void judge_stored(struct worker *worker, const struct worker_flush *flush,
                         struct intake_reply *reply) {
  char refusal[INTAKE_WHY_BYTES];
  if (!flush->has_samples || reply->outcome != INTAKE_FLUSH_ACKED) return;
  uint64_t lost = run_note_lost(worker, flush->note, flush->seq, refusal);
  bool are_all = lost >= flush->samples, is_refused = refusal[0] != '\0';
  const char *what = is_refused ? "the collector refused" : "the spool could not keep";
  if (lost == 0) return;
  if (are_all) reply->outcome = INTAKE_FLUSH_LOST;
  if (are_all)
    snprintf(reply->why, sizeof reply->why, "%s them%s", what, is_refused ? " for good: " : "");
  else
    snprintf(reply->why, sizeof reply->why, "but for %llu records that %s%s",
             (unsigned long long)lost, what, is_refused ? " for good: " : "");
  size_t len = strlen(reply->why);
  snprintf(reply->why + len, sizeof reply->why - len, "%s", refusal);
}

static void answer(struct worker *worker, struct worker_flush *flush,
                   enum intake_flush_outcome outcome, const char *why) {
  struct uplink_figures uplink;
  struct intake_reply reply = {.kind = INTAKE_FLUSHED,
                               .outcome = outcome,
                               .has_count = flush->has_samples,
                               .count = flush->samples};
  uplink_figures(worker->uplink, &uplink);
  reply.living = (uint16_t)flush->living;
  memcpy(reply.samplers, flush->samplers, sizeof reply.samplers);
  snprintf(reply.why, sizeof reply.why, "%s", why);
  if (worker->keeper->output >= 0)
    tell_file(worker, &reply);
  else
    judge_stored(worker, flush, &reply);
  add_unsampled(flush, &reply);
  snprintf(reply.page_url, sizeof reply.page_url, "%s", uplink.page_url);
  intake_answer(flush->connection, &reply, -1);
  flush->connection = NULL;
}

/* Oldest first: what waits of this run's earlier batches waits before FLUSH's. */
static bool is_acked(const struct worker *worker, const struct worker_flush *flush) {
  struct spool_figures spool;
  spool_figures(worker->spool, &spool);
  if (spool.entries == 0) return true;
  return spool.first_run == worker->keeper->run && spool.first_seq > flush->seq;
}

static bool is_away(const struct uplink_figures *uplink) {
  return strcmp(uplink->state, "off") == 0 || strcmp(uplink->state, "waiting") == 0;
}

/* What the samples of a caller wait for, where the uplink says why or nothing. */
static const char *explain_wait(const struct worker *worker, const char *why,
                                char ret[INTAKE_WHY_BYTES]) {
  const char *address = worker->collector;
  if (why[0] == '\0')
    snprintf(ret, INTAKE_WHY_BYTES, "%.100s has not answered in time (--flush-timeout)", address);
  else if (address[0] != '\0' && strstr(why, address) == NULL)
    snprintf(ret, INTAKE_WHY_BYTES, "%.100s: %.150s", address, why);
  else
    snprintf(ret, INTAKE_WHY_BYTES, "%s", why);
  return ret;
}

/* A place to wait in for UID, or NULL. */
static struct worker_flush *find_place(struct worker *worker, uid_t uid) {
  struct worker_flush *place = NULL;
  unsigned of_user = 0;
  for (unsigned i = 0; i < WORKER_FLUSHES_MAX; i++) {
    struct worker_flush *flush = &worker->flushes[i];
    if (flush->connection == NULL) place = flush;
    of_user += flush->connection != NULL && flush->uid == uid;
  }
  bool has_share = !worker->settings->is_system || uid == 0 || of_user < WORKER_FLUSHES_OF_USER;
  return has_share ? place : NULL;
}

static uint64_t deadline_of(const struct intake_request *request, uint64_t now) {
  uint64_t ms = request->deadline_ms < DEADLINE_MS_MAX ? request->deadline_ms : DEADLINE_MS_MAX;
  uint64_t ns = ms * NS_PER_MS;
  return now + (ns > ANSWER_BEFORE_NS ? ns - ANSWER_BEFORE_NS : 0);
}

static int close_account(struct worker *worker, const struct flush_account *account) {
  take_times(worker, account);
  sweep_targets(worker);
  int error = worker_close_window(worker);
  spool_sync(worker->spool, true);
  return error;
}

static void describe_run(const struct worker *worker, const struct worker_note *note,
                         struct worker_flush *flush) {
  struct run_samples samples = run_note_samples(worker, note);
  flush->has_samples = true;
  flush->samples = samples.by_agent + samples.by_perf;
  flush->note = note->serial;
  flush->living = run_note_living(worker, note);
  run_note_samplers(note, &samples, flush->samplers);
  run_note_unsampled(worker, note, flush->unsampled);
}

/* What the caller's program has spent and given is told and spooled; then FLUSH is what he waits
   for.  Returns 0 or -errno. */
static int begin(struct worker *worker, struct worker_flush *flush) {
  uint64_t modules_before = worker->shipper.new_modules;
  bool must_be_news = worker->settings->is_system && flush->uid != 0;
  bool is_time = !ending_has_closed_books(worker);
  int error = 0;
  flush->tables_by_ns = 0;
  if (is_time && (!must_be_news || is_news(worker, flush->account.pid)))
    error = close_account(worker, &flush->account);
  const struct worker_note *note = run_note_find_pid(worker, flush->account.pid);
  bool has_new = worker->shipper.new_modules != modules_before;
  flush->settle_ns = clock_monotonic_ns() + (has_new ? SETTLE_NS : 0);
  flush->seq = wide_load(&worker->keeper->page->next_seq) - 1;
  if (note != NULL) describe_run(worker, note, flush);
  return error;
}

static void check_ack(struct worker *worker, struct worker_flush *flush) {
  struct uplink_figures uplink;
  char why[INTAKE_WHY_BYTES];
  uint64_t now = clock_monotonic_ns();
  uplink_figures(worker->uplink, &uplink);
  if (is_acked(worker, flush)) {
    bool is_settled = now >= flush->settle_ns && uplink.is_idle;
    if (is_settled || now >= flush->deadline_ns || !uplink.is_connected)
      answer(worker, flush, INTAKE_FLUSH_ACKED, "");
  } else if (is_away(&uplink)) {
    answer(worker, flush, INTAKE_FLUSH_SPOOLED, explain_wait(worker, uplink.why, why));
  } else if (now >= flush->deadline_ns) {
    answer(worker, flush, INTAKE_FLUSH_SPOOLED, explain_wait(worker, uplink.why, why));
  }
}

/* The account is closed once no sample waits for a table, then the ack is waited for. */
static void check_one(struct worker *worker, struct worker_flush *flush) {
  bool is_early = worker->drain.wait.is_on && clock_monotonic_ns() < flush->tables_by_ns;
  int error = 0;
  if (is_early) return;
  if (flush->tables_by_ns != 0) error = begin(worker, flush);
  if (error)
    answer(worker, flush, INTAKE_FLUSH_LOST, strerror(-error));
  else
    check_ack(worker, flush);
}

unsigned flush_check(struct worker *worker) {
  unsigned waiting = 0;
  for (unsigned i = 0; i < WORKER_FLUSHES_MAX; i++) {
    struct worker_flush *flush = &worker->flushes[i];
    if (flush->connection != NULL) check_one(worker, flush);
    if (flush->connection != NULL) waiting++;
  }
  return waiting;
}

void flush_end(struct worker *worker) {
  for (unsigned i = 0; i < WORKER_FLUSHES_MAX; i++) {
    struct worker_flush *flush = &worker->flushes[i];
    if (flush->connection == NULL) continue;
    if (flush->tables_by_ns != 0) begin(worker, flush);
    answer(worker, flush, INTAKE_FLUSH_SPOOLED, "the daemon has ended meanwhile");
  }
}

void flush_forget(struct worker *worker, const struct intake_connection *connection) {
  for (unsigned i = 0; i < WORKER_FLUSHES_MAX; i++) {
    struct worker_flush *flush = &worker->flushes[i];
    if (flush->connection != connection) continue;
    if (flush->tables_by_ns != 0) begin(worker, flush);
    flush->connection = NULL;
  }
}

/* Whether a sample waits for a table; not in a daemon that is ending, whose ticks drain no more. */
static bool has_to_wait(struct worker *worker) {
  if (worker->stop_by_ns != 0) return false;
  drain_run_patiently(&worker->drain);
  table_store_step(worker->tables); /* begins with what the drain has asked for */
  return worker->drain.wait.is_on;
}

static struct worker_flush describe(const struct intake_packet *packet) {
  const struct intake_request *request = packet->request;
  uint64_t now = clock_monotonic_ns();
  return (struct worker_flush){.connection = packet->connection,
                               .uid = packet->uid,
                               .deadline_ns = deadline_of(request, now),
                               .account = {.pid = request->pid,
                                           .user_ns = request->user_ns,
                                           .system_ns = request->system_ns},
                               .tables_by_ns = now};
}

void flush_on_request(struct worker *worker, struct intake_packet *packet) {
  const char *fault = NULL;
  if (!is_permitted(worker, packet))
    fault = "the program is not yours";
  else if (!is_believable(worker, packet->request))
    fault = "more CPU time than there was";
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  struct worker_flush flush = describe(packet), *place = find_place(worker, packet->uid);
  if (place != NULL) {
    if (has_to_wait(worker)) flush.tables_by_ns += TABLES_NS;
    if (flush.tables_by_ns > flush.deadline_ns) flush.tables_by_ns = flush.deadline_ns;
    *place = flush;
    check_one(worker, place);
    worker_hurry(worker);
    return;
  }
  int error = begin(worker, &flush);
  answer(worker, &flush, error ? INTAKE_FLUSH_LOST : INTAKE_FLUSH_SPOOLED,
         error ? strerror(-error) : "64 callers wait, or 16 of this user");
}
