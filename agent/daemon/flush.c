/* SPDX-License-Identifier: Apache-2.0 */
/* FLUSH is the end of a `run`. Its program has ended, and `run` reports whether the samples are
   acked by the collector or safe in the spool. All samples are drained and spooled at once. If
   samples of a short program still wait for its unwind tables, that is done when the tables are
   complete, after TABLES_NS at most. Then the caller waits for the ack until its deadline, or not
   at all without a collector or if the last attempt to connect failed.

   The wait includes debug files. If a batch has modules new to the collector, the collector
   requests their debug files shortly after the ack. The next reader of the profile should see their
   names. So the wait continues for SETTLE_NS and then until no file is in transit, within the same
   deadline. Samples acked by then are reported as acked whether or not the files are complete.

   A closed window affects all users. So in a daemon for all users, a user closes it once for each
   of his ended programs. His other requests wait for batches already spooled. Waiting places are
   limited, also per user, but the program's CPU time is always accounted for first. */
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

#define SETTLE_NS (250 * NS_PER_MS)        /* for the collector to request files of new modules */
#define ANSWER_BEFORE_NS (200 * NS_PER_MS) /* answers this long before the caller's deadline */
#define TABLES_NS (500 * NS_PER_MS)        /* for tables being built */
#define DEADLINE_MS_MAX 600000ULL

/* Applies the parent's measurement, which is the whole bill if no nested target has accounted for a
   part. */
static void take_bill(struct target *target, uint64_t total_ns) {
  struct residual *residual = &target->residual;
  target_read_total(target);
  struct steal_look look = {.counted_ns = residual->counted_ns,
                            .billed_ns = total_ns,
                            .is_partial = residual->left_ns + residual->elsewhere_ns > 0};
  proc_board_read(&look.board);
  residual_look(residual, &look);
}

/* Applies the exact CPU times of the ended program's tree, as measured by its parent. A program
   that switches a hundred thousand times a second spends a few per cent within the switches. The
   kernel bills that time, but perf events do not count it. Of a run sampled by timer, the times
   give the part that its samples do not account for (run_note.c). */
static void take_times(struct worker *worker, const struct flush_account *account) {
  struct target *target = targets_find_pid(&worker->targets, account->pid);
  uint64_t total_ns = account->user_ns + account->system_ns;
  struct worker_note *note = run_note_find_pid(worker, account->pid);
  bool is_perf = target != NULL && target->held.kind == HOLD_PERF;
  if (target != NULL) target->is_flushed = true;
  if (note != NULL) note->spent_ns = total_ns;
  /* A run that began by timer is accounted for by its note, even if perf took over (ladder.c). */
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

/* Rejects an impossible report: no tree uses more time than all CPUs had since it began. */
static bool is_believable(struct worker *worker, const struct intake_request *request) {
  const struct target *target = targets_find_pid(&worker->targets, request->pid);
  const struct worker_note *note = run_note_find_pid(worker, request->pid);
  if (target == NULL && note == NULL) return true; /* unknown program: the report is not used */
  uint64_t most = note != NULL ? target_cpu_ns_within(clock_monotonic_ns() - note->begun_ns)
                               : target_cpu_ns_max(target);
  return request->user_ns <= most && request->system_ns <= most - request->user_ns;
}

/* Returns true if PID, reported as ended, has ended and is reported for the first time. */
static bool is_news(struct worker *worker, pid_t pid) {
  const struct target *target = targets_find_pid(&worker->targets, pid);
  struct worker_note *note = run_note_find_pid(worker, pid);
  if (note == NULL)
    return target != NULL && !target->is_flushed &&
           !proc_lives(target->held.pid, target->held.start_ticks);
  if (note->is_flushed || run_note_does_run(note)) return false;
  return note->is_flushed = true;
}

/* Reports the contents of a file from the counters, which are right even if a worker was killed. */
static void tell_file(const struct worker *worker, struct intake_reply *reply) {
  const struct counters *books = counter_page_books(worker->keeper->page);
  uint64_t lost = books->dropped[LOSS_SPOOL_ERROR];
  reply->has_count = 1;
  reply->count = books->shipped;
  if (lost > 0)
    snprintf(reply->why, sizeof reply->why, "%llu more could not be written: %s",
             (unsigned long long)lost, strerror(abs(worker->shipper.lost_error)));
}

/* Appends the unsampled part to the reason; the report has the part that is cut off. */
static void add_unsampled(const struct worker_flush *flush, struct intake_reply *reply) {
  size_t len = strlen(reply->why);
  if (flush->unsampled[0] != '\0')
    snprintf(reply->why + len, sizeof reply->why - len, "%s%s", len > 0 ? "; " : "",
             flush->unsampled);
}

/* A batch that has left the spool is not necessarily stored: the collector may have refused it
   permanently. */
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

/* Batches leave oldest first: FLUSH's batch is acked if the oldest pending one is newer. */
static bool is_acked(const struct worker *worker, const struct worker_flush *flush) {
  struct spool_figures spool;
  spool_figures(worker->spool, &spool);
  if (spool.entries == 0) return true;
  return spool.first_run == worker->keeper->run && spool.first_seq > flush->seq;
}

static bool is_away(const struct uplink_figures *uplink) {
  return strcmp(uplink->state, "off") == 0 || strcmp(uplink->state, "waiting") == 0;
}

/* Returns why a caller's samples are not acked, also if the uplink has no reason. */
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

/* Returns a free waiting place for UID, or NULL. */
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

/* Accounts for the caller's program and spools its samples, so that FLUSH only waits for the ack.
   Returns 0 or -errno. */
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

/* Closes the account once no sample waits for a table; then checks the ack. */
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

/* Returns whether a sample waits for a table. False in a daemon that is stopping, whose ticks no
   longer drain. */
static bool has_to_wait(struct worker *worker) {
  if (worker->stop_by_ns != 0) return false;
  drain_run_patiently(&worker->drain);
  table_store_step(worker->tables); /* starts the tables that the drain requested */
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
