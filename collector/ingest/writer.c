/* SPDX-License-Identifier: Apache-2.0 */
/* The writer: turns a group of jobs into one durable commit.

   The guarantees depend on the order within a group. Batches are inflated, decoded and appended
   first, in one commit (or several if their decoded form is large: GROUP_BYTES bounds the memory).
   The commit includes their data about boards, so that after an ack the matching accounting is
   visible. Then follow pings. Hellos are last: the last seq sent to a board includes every earlier
   batch, on this connection or on one that it has just lost. The store keeps the decoded batch of a
   durable one, and compacts it.

   A batch is refused permanently and counted if it does not inflate or decode, contradicts its own
   envelope, or is implausible (plausible.h; the store checks its run's accounting). If the store
   fails, the board is asked to retry. Only the last of a board's pings in one group is written.

   It does not send to boards: session.c turns outcomes into messages. */
#include "writer.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "enrolment.h"
#include "identity/access.h"
#include "identity/access_tokens.h"
#include "identity/ca.h"
#include "job.h"
#include "names/debug_wishes.h"
#include "plausible.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"
#include "proto/opened_batch.h"
#include "quota/quota.h"
#include "renewal.h"
#include "revocations.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Limit of decoded batches held at once, checked before a batch is added. */
enum { GROUP_BYTES = 64 << 20 };

/* A zstd level for data stored for seconds, until compaction. It takes a sixth of the time of level
   1, which boards use, and gives half as many bytes again (batches of redis, python3 and xz). Both
   need one page of the landing file. */
enum { LANDING_LEVEL = -50 };

struct entry {
  struct job *job;
  struct opened_batch *opened; /* until the store takes it */
  struct store_board_seen seen;
};

struct writer {
  struct writer_parts parts;
  bool is_failing; /* the last commit failed */
  unsigned count;  /* of the open batches */
  size_t bytes;
  struct opening_room room;
  struct entry entries[WRITER_GROUP_MAX];
  struct store_append appends[WRITER_GROUP_MAX];
};

struct writer *writer_new(const struct writer_parts *parts) {
  struct writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->parts = *parts;
  if (parts->board_cpus_max == 0) writer->parts.board_cpus_max = LIMIT_CPUS;
  return writer;
}

void writer_free(struct writer *writer) {
  if (writer == NULL) return;
  opening_room_fini(&writer->room);
  free(writer);
}

/* Compares the envelope with its content. */
static int check_envelope(struct job *job, const struct batch *batch) {
  const struct envelope *envelope = &job->message.batch;
  const char *wrong = NULL;
  if (envelope->seq == 0) wrong = "seq 0 is no batch";
  if (envelope->run != batch->counters.run) wrong = "envelope and batch name different runs";
  if (envelope->records != batch_record_count(batch))
    wrong = "envelope announces another number of records than the batch holds";
  if (wrong == NULL) return 0;
  snprintf(job->why, sizeof job->why, "%s", wrong);
  return -EBADMSG;
}

static int check_values(const struct writer *writer, struct job *job, const struct batch *batch) {
  const struct plausible_limits limits = {
      .boot_ns = placement_boot_ns(&job->placement, batch, clock_boottime_ns()),
      .cpus_max = writer->parts.board_cpus_max};
  return plausible_batch(batch, &limits, job->why, sizeof job->why);
}

/* Checks the batch against its board's quotas. */
static int check_quota(const struct writer *writer, struct job *job, const struct batch *batch) {
  struct quota_verdict verdict;
  if (writer->parts.quotas == NULL ||
      quotas_take_batch(writer->parts.quotas, job->board, batch, clock_monotonic_ns(), &verdict))
    return 0;
  bool is_for_good = verdict.retry_after_ms == 0;
  snprintf(job->why, sizeof job->why, "this board's quota of %s %s is used up",
           quota_name(verdict.quota), is_for_good ? "a day" : "a minute");
  return is_for_good ? -EDQUOT : -EAGAIN;
}

static enum refusal refusal_of(int failure) {
  if (failure == -EDQUOT) return REFUSAL_QUOTA;
  if (failure == -ERANGE) return REFUSAL_IMPLAUSIBLE;
  return failure == -EOVERFLOW ? REFUSAL_BATCH_TOO_LARGE : REFUSAL_BAD_BATCH;
}

/* Refuses JOB, which the accounting already includes. */
static void refuse_for_good(struct writer *writer, struct job *job, enum refusal refusal,
                            const char *why) {
  job_refuse(job, refusal, why);
  if (writer->parts.quotas != NULL)
    quotas_count_refusal(writer->parts.quotas, job->board, clock_monotonic_ns());
  figures_add(&writer->parts.figures->batches_refused_total, 1);
}

/* Returns the number of records in ENVELOPE, bounded, because it is untrusted. */
static uint64_t announced_records(const struct envelope *envelope) {
  return envelope->records < PLAUSIBLE_RECORDS_MAX ? envelope->records : PLAUSIBLE_RECORDS_MAX;
}

static void refuse_batch(struct writer *writer, struct job *job, int failure) {
  const struct envelope *envelope = &job->message.batch;
  if (failure == -ENOMEM) {
    job_fail(job, REFUSAL_MEMORY, "the collector is out of memory");
    return;
  }
  if (failure == -EAGAIN) {
    job_fail(job, REFUSAL_QUOTA, job->why);
    return;
  }
  if (envelope->after != 0) { /* its reference may be at fault: it is sent again without */
    job_fail(job, refusal_of(failure), job->why);
    return;
  }
  const struct store_refusal refused = {.board = job->board,
                                        .run = envelope->run,
                                        .seq = envelope->seq,
                                        .records = announced_records(envelope),
                                        .why = failure != -EDQUOT ? job->why : NULL};
  int counted = store_refused(writer->parts.store, &refused);
  if (counted != 0) { /* a permanent refusal must be accounted for */
    job_fail(job, REFUSAL_STORE, "the collector cannot write to its store");
    return;
  }
  refuse_for_good(writer, job, refusal_of(failure), job->why);
}

/* Copies a request into JOB, which outlives the decoded batch. Allocates the rows with the first
   one. */
static void add_wanted(struct job *job, const struct debug_wish *wish, struct debug_wanted **rows) {
  if (job->wanted_count == LIMIT_DEBUG_WANTED) return;
  if (*rows == NULL)
    job->wanted = *rows = arena_array(&job->arena, LIMIT_DEBUG_WANTED, sizeof **rows);
  char *path = arena_string(&job->arena, wish->path, strlen(wish->path));
  char *id = arena_string(&job->arena, wish->id.data, wish->id.len);
  if (*rows == NULL || path == NULL || id == NULL) return;
  (*rows)[job->wanted_count++] =
      (struct debug_wanted){.id = span_of(id, wish->id.len), .path = path, .offset = wish->offset};
}

static bool has_pairs(const struct batch *batch) {
  for (uint32_t i = 0; i < batch->sample_count; i++)
    if (batch->samples[i].type == SAMPLE_CPU_LR) return true;
  return false;
}

/* Takes the next modules with files, from *AT on. Returns their number. */
static uint32_t take_modules(const struct batch *batch, uint32_t *at,
                             struct debug_wish wishes[DEBUG_WISHES_MAX]) {
  uint32_t count = 0;
  for (; *at < batch->module_count && count < DEBUG_WISHES_MAX; ++*at) {
    const struct batch_module *module = &batch->modules[*at];
    if (module->kind == MODULE_ELF)
      wishes[count++] = (struct debug_wish){.id = module->id, .path = module->path};
  }
  return count;
}

static void find_wanted(struct writer *writer, struct entry *entry) {
  struct debug_wish wishes[DEBUG_WISHES_MAX];
  struct debug_wanted *rows = NULL;
  bool needs_code = has_pairs(&entry->opened->batch);
  for (uint32_t at = 0, count; (count = take_modules(&entry->opened->batch, &at, wishes)) > 0;) {
    debug_wishes_ask(writer->parts.debug, entry->job->board, needs_code, wishes, count);
    for (uint32_t i = 0; i < count; i++)
      if (wishes[i].is_wanted) add_wanted(entry->job, &wishes[i], &rows);
  }
}

/* Requests modules that earlier batches of JOB's board left without names. */
static void find_still_wanted(struct writer *writer, struct job *job) {
  struct debug_wish wishes[DEBUG_WISHES_MAX];
  struct debug_wanted *rows = NULL;
  uint32_t count = debug_wishes_ask_again(writer->parts.debug, job->board, job->kind == JOB_HELLO,
                                          &job->arena, wishes);
  for (uint32_t i = 0; i < count; i++) add_wanted(job, &wishes[i], &rows);
}

/* Return NULL for a value that the board omits, so that the known value is kept. */
static const char *said(const char *text) {
  return text[0] != 0 ? text : NULL;
}

static const struct effort *said_effort(const struct effort *effort) {
  return effort->budget_state != NULL && effort->budget_state[0] != 0 ? effort : NULL;
}

/* Finds the sampler of the board's busiest target in this window. */
static void find_sampler(const struct batch *batch, struct store_board_seen *ret) {
  uint64_t records[LIMIT_BATCH_TARGETS] = {0};
  uint32_t busiest = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    uint32_t target = batch->threads[batch->samples[i].thread].target;
    records[target] += batch->samples[i].count;
    if (records[target] > records[busiest]) busiest = target;
  }
  if (batch->target_count == 0) return;
  ret->sampler = said(batch->targets[busiest].sampler);
  ret->asked_mhz = batch->targets[busiest].asked_mhz;
  ret->achieved_mhz = batch->targets[busiest].achieved_mhz;
}

static void fill_append(struct entry *entry, struct store_append *append) {
  struct job *job = entry->job;
  const struct batch *batch = &entry->opened->batch;
  struct placed placed = placement_of(&job->placement, batch, job->received_ns);
  entry->seen = (struct store_board_seen){.board = job->board,
                                          .clock = placed.clock,
                                          .effort = said_effort(&batch->effort),
                                          .cpus = batch->cpus,
                                          .seen_ms = job->received_ns / NS_PER_MS};
  find_sampler(batch, &entry->seen);
  *append = (struct store_append){.board = job->board,
                                  .envelope = &job->message.batch,
                                  .batch = batch,
                                  .opened = &entry->opened,
                                  .seen = &entry->seen,
                                  .start_ms = placed.start_ms,
                                  .end_ms = placed.end_ms,
                                  .received_ms = entry->seen.seen_ms,
                                  .outcome = STORE_FAILED};
}

/* A stored batch must be self-contained: compresses the inflated data again. */
static int stand_alone(struct writer *writer, struct job *job) {
  struct envelope *envelope = &job->message.batch;
  struct buf zstd = {0};
  int result =
      packer_compress(&writer->room.packer, buf_span(&writer->room.raw), LANDING_LEVEL, &zstd);
  envelope->zstd = job_keep(job, &zstd);
  envelope->after = 0;
  buf_fini(&zstd);
  return result == 0 && envelope->zstd.len == 0 ? -ENOMEM : result;
}

static int open_batch(struct writer *writer, struct job *job, struct opened_batch **ret) {
  struct envelope *envelope = &job->message.batch;
  struct opened_batch *opened;
  int result = opened_batch_make(envelope, buf_span(&job->prefix.raw), &writer->room, &opened,
                                 job->why, sizeof job->why);
  if (result != 0) return result;
  result = check_envelope(job, &opened->batch);
  if (result == 0) result = check_values(writer, job, &opened->batch);
  if (result == 0) result = check_quota(writer, job, &opened->batch);
  if (result == 0 && envelope->after != 0) result = stand_alone(writer, job);
  if (result == 0 && job->is_kept)
    prefix_keep(&job->prefix, envelope->run, envelope->seq, buf_span(&writer->room.raw));
  if (result == 0)
    *ret = opened;
  else
    opened_batch_free(opened);
  return result;
}

static void add_batch(struct writer *writer, struct job *job) {
  struct figures *figures = writer->parts.figures;
  struct entry *entry = &writer->entries[writer->count];
  *entry = (struct entry){.job = job};
  const struct envelope came = job->message.batch;
  int result = open_batch(writer, job, &entry->opened);
  if (result != 0) {
    refuse_batch(writer, job, result);
    return;
  }
  fill_append(entry, &writer->appends[writer->count]);
  figures_add(&figures->batch_wire_bytes_total, came.zstd.len);
  figures_add(&figures->batches_referring_total, came.after != 0);
  figures_add(&figures->batch_raw_bytes_total, job->message.batch.raw_len);
  writer->bytes += opened_batch_bytes(entry->opened);
  writer->count++;
}

static void settle_entry(struct writer *writer, struct entry *entry, enum store_outcome outcome) {
  struct figures *figures = writer->parts.figures;
  struct job *job = entry->job;
  opened_batch_free(entry->opened);
  if (outcome == STORE_FAILED) {
    figures_add(&figures->batches_failed_total, 1);
    job->wanted_count = 0;
    job_fail(job, REFUSAL_STORE, "the collector cannot write to its store");
    return;
  }
  if (outcome == STORE_REFUSED) {
    job->wanted_count = 0;
    refuse_for_good(writer, job, REFUSAL_IMPLAUSIBLE, STORE_REFUSED_BOOKS);
    return;
  }
  figures_add(outcome == STORE_STORED ? &figures->batches_stored_total
                                      : &figures->batches_duplicate_total,
              1);
  if (outcome == STORE_STORED) figures_add(&figures->records_total, job->message.batch.records);
}

/* Commits the open batches. */
static void commit(struct writer *writer) {
  if (writer->count == 0) return;
  for (unsigned i = 0; i < writer->count; i++) /* also for a duplicate: its first ack, */
    find_wanted(writer, &writer->entries[i]);  /* or request, may have been lost */
  int result = store_append(writer->parts.store, writer->appends, writer->count);
  if (result != 0 && !writer->is_failing)
    log_error("ingest-append %u batches: not stored, boards keep them: %s", writer->count,
              strerror(-result));
  writer->is_failing = result != 0;
  for (unsigned i = 0; i < writer->count; i++)
    settle_entry(writer, &writer->entries[i], writer->appends[i].outcome);
  writer->count = 0;
  writer->bytes = 0;
}

static const struct counters *counters_of(const struct job *job) {
  return job->kind == JOB_HELLO ? &job->message.hello.counters : &job->message.ping.counters;
}

/* Returns whether the group has a later ping of the same board and run. */
static bool is_outdated(const struct job *job) {
  for (const struct job *later = job->next; later != NULL; later = later->next)
    if (later->kind == JOB_PING && counters_of(later)->run == counters_of(job)->run &&
        strcmp(later->board, job->board) == 0)
      return true;
  return false;
}

/* Returns whether a later batch of the same board is in the group. It is stored already, and its
   data is newer than the ping's. This does not matter for counters. */
static bool is_spoken_over(const struct job *job) {
  for (const struct job *later = job->next; later != NULL; later = later->next)
    if (later->kind == JOB_BATCH && strcmp(later->board, job->board) == 0) return true;
  return false;
}

static int note(struct writer *writer, const struct job *job) {
  const struct counters *counters = counters_of(job);
  char why[LIMIT_VALUE_BYTES];
  bool is_refused = plausible_counters(counters, why, sizeof why) != 0;
  struct store_board_seen seen = {.refused = is_refused ? why : NULL,
                                  .board = job->board,
                                  .seen_ms = job->received_ns / NS_PER_MS,
                                  .clock = placement_clock(&job->placement),
                                  .counters = counters->run != 0 && !is_refused ? counters : NULL};
  if (job->kind == JOB_HELLO) {
    const struct hello *hello = &job->message.hello;
    seen.arch = said(hello->arch);
    seen.kernel = said(hello->kernel);
    seen.version = said(hello->program_version);
    seen.sampler = said(hello->sampler);
    seen.achieved_mhz = hello->achieved_mhz;
    seen.effort = said_effort(&hello->effort);
    seen.label_count = hello->label_count;
    seen.labels = hello->labels;
  }
  if (job->kind == JOB_PING && is_spoken_over(job)) {
    seen.clock = NULL;
  } else if (job->kind == JOB_PING) {
    seen.sampler = said(job->message.ping.sampler);
    seen.achieved_mhz = job->message.ping.achieved_mhz;
    seen.effort = said_effort(&job->message.ping.effort);
    seen.is_settled = job->message.ping.is_settled;
  }
  int error = store_board_seen(writer->parts.store, &seen);
  if (error == 0 && !is_refused) return 0;
  if (is_refused || error == -ERANGE)
    figures_add(&writer->parts.figures->refused[REFUSAL_IMPLAUSIBLE], 1);
  return error == -ERANGE ? 0 : error;
}

static void note_pings(struct writer *writer, struct job *group) {
  for (struct job *job = group; job != NULL; job = job->next) {
    if (job->kind != JOB_PING || is_outdated(job)) continue;
    find_still_wanted(writer, job);
    int result = note(writer, job);
    if (result == 0) continue;
    figures_add(&writer->parts.figures->notes_failed_total, 1);
    log_debug("ingest-note %s: %s", job->board, strerror(-result));
  }
}

static void admit(struct writer *writer, struct job *job) {
  const struct access_certificate certificate = {
      .signed_s = job->certificate.signed_s,
      .id = job->certificate.id,
      .root = job->certificate.root,
  };
  int result =
      access_admit(writer->parts.access, job->board, &certificate, job->why, sizeof job->why);
  if (result == -EACCES || result == -ESTALE) {
    job_refuse(job, result == -EACCES ? REFUSAL_REVOKED : REFUSAL_SUPERSEDED, job->why);
    if (result == -ESTALE)
      access_audit_denial(writer->parts.access, job->board, "refused: %s", job->why);
    return;
  }
  if (result == 0) result = note(writer, job);
  if (result == 0)
    result = store_last_seq(writer->parts.store, job->board, job->message.hello.counters.run,
                            &job->last_seq);
  if (result != 0)
    job_fail(job, REFUSAL_STORE, "the collector cannot read its store");
  else
    find_still_wanted(writer, job);
}

/* Reloads data that commands change. A new CA is read before a certificate by it is requested. */
static void refresh_ca(struct writer *writer) {
  char error[LIMIT_VALUE_BYTES];
  if (ca_refresh(writer->parts.ca, error, sizeof error) != 0)
    log_warn("ingest-ca files: not read anew: %s", error);
}

static void read_revocations(struct writer *writer, struct job *job) {
  refresh_ca(writer);
  int settled = access_tokens_settle(writer->parts.access);
  if (settled != 0) log_warn("ingest-tokens list: not read again: %s", strerror(-settled));
  int result = revocations_read(writer->parts.access, &job->revocations);
  if (result == 0) return;
  log_warn("ingest-revocations list: cannot be read: %s", strerror(-result));
  job_fail(job, REFUSAL_STORE, "the list of revoked boards cannot be read");
}

void writer_run(void *context, struct job *group) {
  struct writer *writer = context;
  for (struct job *job = group; job != NULL; job = job->next) {
    if (job->kind != JOB_BATCH) continue;
    add_batch(writer, job);
    if (writer->bytes > GROUP_BYTES || writer->count == WRITER_GROUP_MAX) commit(writer);
  }
  commit(writer);
  note_pings(writer, group);
  for (struct job *job = group; job != NULL; job = job->next) {
    if (job->kind == JOB_HELLO) admit(writer, job);
    if (job->kind == JOB_ENROLL || job->kind == JOB_RENEW) refresh_ca(writer);
    if (job->kind == JOB_ENROLL) enrolment_run(writer->parts.access, writer->parts.ca, job);
    if (job->kind == JOB_RENEW)
      renewal_run(writer->parts.access, writer->parts.ca, writer->parts.quotas, job);
    if (job->kind == JOB_REVOCATIONS) read_revocations(writer, job);
    if (job->kind == JOB_ENROLL && job->outcome == JOB_DONE)
      figures_add(&writer->parts.figures->enrolled_total, 1);
    if (job->kind == JOB_RENEW && job->outcome == JOB_DONE)
      figures_add(&writer->parts.figures->renewed_total, 1);
  }
}
