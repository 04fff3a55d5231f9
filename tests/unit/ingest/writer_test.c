/* SPDX-License-Identifier: Apache-2.0 */
/* The writer against a store with results set by the test: the answers to boards when it fails. */
#include "ingest/writer.h"

#include "common/buf.h"
#include "common/clock.h"
#include "identity/access.h"
#include "ingest/job.h"
#include "names/debug_wishes.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "quota/quota.h"
#include "store/store.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* --- replaces the real store: records its calls, fails on request --- */

static struct {
  int append_result, refused_result;
  unsigned commits, batches, said, notes, refused, wishes;
  uint64_t noted_produced, refused_records, refuse_seq; /* the last: for its books; 0: none */
  char noted_refusal[256];
  const char *noted_sampler, *noted_clock;
  char order[64]; /* one letter a call */
} fake;

static void note_call(char letter) {
  size_t len = strlen(fake.order);
  if (len + 1 < sizeof fake.order) fake.order[len] = letter;
}

int store_append(struct store *store, struct store_append *batches, size_t count) {
  (void)store;
  fake.commits++;
  note_call('a');
  for (size_t i = 0; i < count; i++) {
    bool is_refused = batches[i].envelope->seq == fake.refuse_seq;
    batches[i].outcome = fake.append_result ? STORE_FAILED : STORE_STORED;
    if (is_refused) batches[i].outcome = STORE_REFUSED;
    const char *sampler = batches[i].seen->sampler;
    fake.said += sampler != NULL && strcmp(sampler, "perf") == 0;
    fake.batches++;
  }
  return fake.append_result;
}

int store_board_seen(struct store *store, const struct store_board_seen *seen) {
  (void)store;
  fake.notes++;
  note_call('n');
  if (seen->counters != NULL) fake.noted_produced = seen->counters->produced;
  fake.noted_sampler = seen->sampler;
  fake.noted_clock = seen->clock;
  if (seen->refused != NULL)
    snprintf(fake.noted_refusal, sizeof fake.noted_refusal, "%s", seen->refused);
  return 0;
}

int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret) {
  (void)store, (void)board, (void)run;
  note_call('l');
  *ret = fake.batches;
  return 0;
}

int store_refused(struct store *store, const struct store_refusal *refusal) {
  (void)store;
  fake.refused++;
  fake.refused_records = refusal->records;
  return fake.refused_result;
}

void debug_wishes_ask(struct debug_store *store, const char *board, bool needs_code,
                      struct debug_wish *wishes, uint32_t count) {
  (void)store, (void)board, (void)needs_code;
  for (uint32_t i = 0; i < count; i++) wishes[i].is_wanted = true;
  fake.wishes += count;
}

uint32_t debug_wishes_ask_again(struct debug_store *store, const char *board, bool is_new,
                                struct arena *arena, struct debug_wish wishes[DEBUG_WISHES_MAX]) {
  (void)store, (void)board, (void)arena;
  if (is_new) note_call('w');
  wishes[0] = (struct debug_wish){
      .id = span_of_string("id"), .path = "/usr/bin/earlier", .is_wanted = true};
  return 1;
}

/* --- --- */

static char dir[64];
static struct access *gate;
static struct figures figures;
static struct writer *writer;
static struct job *group;
static const char *service = "s"; /* of the batches that are added */

static int start(void **state) {
  char error[256];
  (void)state;
  memset(&fake, 0, sizeof fake);
  memset(&figures, 0, sizeof figures);
  snprintf(dir, sizeof dir, "/tmp/fleetprof-writer-XXXXXX");
  if (mkdtemp(dir) == NULL || access_open(dir, &gate, error, sizeof error) != 0) return -1;
  struct writer_parts parts = {.access = gate, .figures = &figures};
  writer = writer_new(&parts);
  return 0;
}

static int on_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

static int stop(void **state) {
  (void)state;
  while (group != NULL) {
    struct job *next = group->next;
    job_free(group);
    group = next;
  }
  writer_free(writer);
  access_close(gate);
  return nftw(dir, on_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static struct job *add_job(enum job_kind kind, const char *board) {
  struct job *job = job_new(kind), **end = &group;
  while (*end != NULL) end = &(*end)->next;
  *end = job;
  snprintf(job->board, sizeof job->board, "%s", board);
  job->received_ns = clock_walltime_ns();
  return job;
}

static struct span keep(struct job *job, struct buf *bytes) {
  struct span kept = span_of(arena_string(&job->arena, bytes->data, bytes->len), bytes->len);
  buf_fini(bytes);
  return kept;
}

static struct job *add_batch_of(const char *board, uint64_t seq, uint64_t weight) {
  struct batch_module module = {
      .id = span_of_string("id"), .path = "/usr/bin/thing", .kind = MODULE_ELF};
  struct batch_target target = {.service = service, .exe = "/s", .sampler = "perf", .why = ""};
  struct batch_thread thread = {.name = "main"};
  struct batch_node node = {.parent = BATCH_NONE, .address = 1};
  struct batch_sample sample = {.count = 3, .weight = weight};
  struct batch batch = {.counters = {.run = 7, .produced = 3 * seq},
                        .module_count = 1,
                        .target_count = 1,
                        .thread_count = 1,
                        .node_count = 1,
                        .sample_count = 1,
                        .modules = &module,
                        .targets = &target,
                        .threads = &thread,
                        .nodes = &node,
                        .samples = &sample};
  struct buf raw = {0}, zstd = {0};
  struct job *job = add_job(JOB_BATCH, board);
  batch.counters.shipped = batch.counters.produced;
  assert_int_equal(batch_encode(&batch, &raw), 0);
  assert_int_equal(compress(buf_span(&raw), 1, &zstd), 0);
  job->message =
      (struct message){.type = FRAME_BATCH,
                       .batch = {.run = 7, .seq = seq, .records = 3, .raw_len = (uint32_t)raw.len}};
  job->message.batch.zstd = keep(job, &zstd);
  buf_fini(&raw);
  return job;
}

static struct job *add_batch(const char *board, uint64_t seq) {
  return add_batch_of(board, seq, 5);
}

/* Lets JOB's batch refer to PREFIX, as seq AFTER. */
static void let_refer(struct job *job, struct span prefix, uint64_t after) {
  struct envelope *envelope = &job->message.batch;
  struct packer packer = {0};
  struct buf raw = {0}, zstd = {0};
  assert_int_equal(decompress(envelope->zstd, envelope->raw_len, 1 << 20, &raw), 0);
  packer.prefix = prefix;
  assert_int_equal(packer_compress(&packer, buf_span(&raw), 1, &zstd), 0);
  assert_true(zstd.len < envelope->zstd.len);
  envelope->zstd = keep(job, &zstd);
  envelope->after = after;
  prefix_keep(&job->prefix, 7, after, prefix);
  packer_fini(&packer);
  buf_fini(&raw);
}

static void what_is_stored_stands_alone_and_its_bytes_come_back(void **state) {
  (void)state;
  struct job *first = add_batch("edge-1", 1), *second = add_batch("edge-1", 2);
  struct buf first_raw = {0}, second_raw = {0};
  const struct envelope *stored = &second->message.batch;
  assert_int_equal(
      decompress(first->message.batch.zstd, first->message.batch.raw_len, 1 << 20, &first_raw), 0);
  let_refer(second, buf_span(&first_raw), 1);
  second->is_kept = true;
  size_t came_bytes = stored->zstd.len;
  writer_run(writer, group);
  assert_int_equal(second->outcome, JOB_DONE);
  assert_int_equal(stored->after, 0);
  assert_int_equal(decompress(stored->zstd, stored->raw_len, 1 << 20, &second_raw), 0);
  assert_int_equal(second->prefix.seq, 2);
  assert_true(span_is_equal(buf_span(&second->prefix.raw), buf_span(&second_raw)));
  assert_int_equal(first->prefix.seq, 0);
  assert_int_equal(figures.batches_referring_total, 1);
  assert_int_equal(figures.batch_wire_bytes_total, first->message.batch.zstd.len + came_bytes);
  buf_fini(&first_raw);
  buf_fini(&second_raw);
}

static void what_refers_to_other_bytes_is_to_come_again_and_is_no_loss(void **state) {
  (void)state;
  struct job *job = add_batch("edge-1", 2);
  struct buf raw = {0};
  assert_int_equal(decompress(job->message.batch.zstd, job->message.batch.raw_len, 1 << 20, &raw),
                   0);
  let_refer(job, buf_span(&raw), 1);
  raw.data[raw.len / 2] ^= 1;
  prefix_keep(&job->prefix, 7, 1, buf_span(&raw));
  job->is_kept = true;
  writer_run(writer, group);
  assert_int_equal(job->outcome, JOB_FAILED);
  assert_int_equal(job->refusal, REFUSAL_BAD_BATCH);
  assert_int_equal(fake.batches, 0);
  assert_int_equal(fake.refused, 0);
  buf_fini(&raw);
}

static void a_group_is_one_commit_with_what_it_says_of_its_boards(void **state) {
  (void)state;
  for (uint64_t seq = 1; seq <= WRITER_GROUP_MAX - 1; seq++) add_batch("edge-1", seq);
  add_batch("edge-2", 1);
  writer_run(writer, group);
  assert_int_equal(fake.commits, 1);
  assert_int_equal(fake.batches, WRITER_GROUP_MAX);
  assert_int_equal(fake.said, WRITER_GROUP_MAX);
  assert_int_equal(fake.notes, 0);
  assert_int_equal(figures.batches_stored_total, WRITER_GROUP_MAX);
  assert_int_equal(figures.records_total, 3 * WRITER_GROUP_MAX);
  for (struct job *job = group; job != NULL; job = job->next) {
    assert_int_equal(job->outcome, JOB_DONE);
    assert_int_equal(job->wanted_count, 1);
    assert_string_equal(job->wanted[0].path, "/usr/bin/thing");
  }
}

static void of_pings_of_a_run_only_the_newest_is_noted(void **state) {
  (void)state;
  for (uint64_t seq = 1; seq <= 5; seq++)
    add_job(JOB_PING, "edge-1")->message = (struct message){
        .type = FRAME_PING, .ping = {.counters = {.run = 7, .produced = 3 * seq}, .sampler = ""}};
  writer_run(writer, group);
  assert_int_equal(fake.notes, 1);
  assert_int_equal(fake.noted_produced, 15);
}

static void a_ping_speaks_over_no_batch_that_came_after_it(void **state) {
  (void)state;
  for (int is_first = 1; is_first >= 0; is_first--) {
    if (!is_first) add_batch("edge-1", 2);
    add_job(JOB_PING, "edge-1")->message = (struct message){
        .type = FRAME_PING, .ping = {.counters = {.run = 7, .produced = 99}, .sampler = "timer"}};
    if (is_first) add_batch("edge-1", 1);
    add_batch("edge-2", 1);
    writer_run(writer, group);
    assert_int_equal(fake.noted_produced, 99);
    assert_true((fake.noted_sampler == NULL) == is_first);
    assert_true((fake.noted_clock == NULL) == is_first);
    while (group != NULL) {
      struct job *next = group->next;
      job_free(group);
      group = next;
    }
  }
}

static void a_commit_that_fails_acks_nothing_and_asks_for_nothing(void **state) {
  (void)state;
  fake.append_result = -ENOSPC;
  struct job *first = add_batch("edge-1", 1), *second = add_batch("edge-1", 2);
  writer_run(writer, group);
  assert_int_equal(first->outcome, JOB_FAILED);
  assert_int_equal(second->outcome, JOB_FAILED);
  assert_int_equal(first->refusal, REFUSAL_STORE);
  assert_int_equal(first->wanted_count, 0);
  assert_int_equal(fake.notes, 0);
  assert_int_equal(fake.refused, 0);
  assert_int_equal(figures.batches_failed_total, 2);
}

static void a_bad_batch_does_not_touch_the_good_ones_of_its_group(void **state) {
  (void)state;
  struct job *good = add_batch("edge-1", 1), *bad = add_batch("edge-2", 1);
  struct job *last = add_batch("edge-3", 1);
  bad->message.batch.zstd.len -= 3;
  writer_run(writer, group);
  assert_int_equal(good->outcome, JOB_DONE);
  assert_int_equal(last->outcome, JOB_DONE);
  assert_int_equal(bad->outcome, JOB_REFUSED);
  assert_int_equal(bad->refusal, REFUSAL_BAD_BATCH);
  assert_true(bad->why[0] != 0);
  assert_int_equal(fake.batches, 2);
  assert_int_equal(fake.refused, 1);
}

static void a_batch_over_a_quota_is_refused_in_the_books_and_others_are_stored(void **state) {
  (void)state;
  struct quotas *quotas = quotas_new(&(struct quota_limits){.a_day = {[QUOTA_SERIES] = 1}});
  struct writer_parts parts = {.access = gate, .figures = &figures, .quotas = quotas};
  writer_free(writer);
  writer = writer_new(&parts);
  add_batch("edge-1", 1);
  service = "another";
  struct job *more = add_batch("edge-1", 2), *others = add_batch("edge-2", 1);
  service = "s";
  struct job *known = add_batch("edge-1", 3);
  writer_run(writer, group);
  assert_int_equal(more->outcome, JOB_REFUSED);
  assert_int_equal(more->refusal, REFUSAL_QUOTA);
  assert_non_null(strstr(more->why, "quota of series"));
  assert_int_equal(others->outcome, JOB_DONE);
  assert_int_equal(known->outcome, JOB_DONE);
  assert_int_equal(fake.batches, 3);
  assert_int_equal(fake.refused, 1);
  quotas_free(quotas);
}

static void a_batch_that_says_what_cannot_be_is_refused_for_good(void **state) {
  (void)state;
  struct job *lie = add_batch_of("edge-1", 1, UINT64_C(1) << 62),
             *ping = add_job(JOB_PING, "edge-1");
  struct job *good = add_batch("edge-1", 2), *books = add_batch("edge-1", 3);
  ping->message = (struct message){
      .type = FRAME_PING,
      .ping = {.counters = {.run = 7, .produced = UINT64_C(1) << 60}, .sampler = ""}};
  fake.refuse_seq = 3;
  writer_run(writer, group);
  assert_int_equal(lie->outcome, JOB_REFUSED);
  assert_int_equal(lie->refusal, REFUSAL_IMPLAUSIBLE);
  assert_non_null(strstr(lie->why, "4611686018427387904"));
  assert_int_equal(good->outcome, JOB_DONE);
  assert_int_equal(books->outcome, JOB_REFUSED);
  assert_int_equal(books->refusal, REFUSAL_IMPLAUSIBLE);
  assert_string_equal(books->why, STORE_REFUSED_BOOKS);
  assert_int_equal(fake.refused, 1); /* the other is in the books already */
  assert_int_equal(figures.batches_refused_total, 2);
  assert_int_equal(fake.noted_produced, 0);
  assert_non_null(strstr(fake.noted_refusal, "records of one run"));
  assert_int_equal(figures.refused[REFUSAL_IMPLAUSIBLE], 1); /* batches': session.c */
}

static void a_refusal_that_cannot_be_put_in_the_books_is_no_refusal(void **state) {
  (void)state;
  fake.refused_result = -EIO;
  struct job *bad = add_batch("edge-1", 1);
  bad->message.batch.zstd.len -= 3;
  writer_run(writer, group);
  assert_int_equal(bad->outcome, JOB_FAILED);
}

static void sizes_over_the_limits_are_refused_as_too_large(void **state) {
  (void)state;
  struct job *bad = add_batch("edge-1", 1);
  bad->message.batch.raw_len = LIMIT_BATCH_RAW_BYTES + 1;
  writer_run(writer, group);
  assert_int_equal(bad->outcome, JOB_REFUSED);
  assert_int_equal(bad->refusal, REFUSAL_BATCH_TOO_LARGE);
}

static void batch_zero_is_refused(void **state) {
  (void)state;
  struct job *bad = add_batch("edge-1", 0);
  writer_run(writer, group);
  assert_int_equal(bad->outcome, JOB_REFUSED);
  assert_string_equal(bad->why, "seq 0 is no batch");
}

static void a_hello_is_answered_after_the_batches_before_it(void **state) {
  (void)state;
  struct job *hello = add_job(JOB_HELLO, "edge-1");
  hello->message =
      (struct message){.type = FRAME_HELLO,
                       .hello = {.arch = "x", .kernel = "", .program_version = "", .sampler = ""}};
  add_batch("edge-1", 1);
  writer_run(writer, group);
  assert_int_equal(hello->outcome, JOB_DONE);
  assert_int_equal(hello->last_seq, 1);
  assert_string_equal(fake.order, "anlw"); /* append, the hello's note, the last seq, files */
}

static void a_revoked_board_is_refused_and_leaves_no_trace(void **state) {
  (void)state;
  struct job *hello = add_job(JOB_HELLO, "edge-1");
  assert_int_equal(access_revoke(gate, "edge-1"), 0);
  writer_run(writer, group);
  assert_int_equal(hello->outcome, JOB_REFUSED);
  assert_int_equal(hello->refusal, REFUSAL_REVOKED);
  assert_int_equal(fake.notes, 0);
}

/* A batch with a large decoded form is committed before the next is decoded. */
static void decoded_batches_are_held_only_up_to_a_bound(void **state) {
  enum { NODES = 100000, BATCHES = 60 };
  (void)state;
  struct batch_node *nodes = calloc(NODES, sizeof *nodes);
  for (uint32_t i = 0; i < NODES; i++)
    nodes[i] = (struct batch_node){.parent = i % 100 ? i - 1 : BATCH_NONE, .address = i};
  struct batch_module module = {.id = span_of_string("id"), .path = "/m", .kind = MODULE_ELF};
  struct batch batch = {.counters = {.run = 7},
                        .module_count = 1,
                        .node_count = NODES,
                        .modules = &module,
                        .nodes = nodes};
  struct buf raw = {0}, zstd = {0};
  assert_int_equal(batch_encode(&batch, &raw), 0);
  assert_int_equal(compress(buf_span(&raw), 1, &zstd), 0);
  for (uint64_t seq = 1; seq <= BATCHES; seq++) {
    struct job *job = add_job(JOB_BATCH, "edge-1");
    job->message.batch = (struct envelope){
        .run = 7, .seq = seq, .raw_len = (uint32_t)raw.len, .zstd = buf_span(&zstd)};
  }
  writer_run(writer, group);
  assert_int_equal(fake.batches, BATCHES);
  assert_in_range(fake.commits, 2, BATCHES);
  buf_fini(&raw);
  buf_fini(&zstd);
  free(nodes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define WRITES(test) cmocka_unit_test_setup_teardown(test, start, stop)
      WRITES(a_group_is_one_commit_with_what_it_says_of_its_boards),
      WRITES(what_is_stored_stands_alone_and_its_bytes_come_back),
      WRITES(what_refers_to_other_bytes_is_to_come_again_and_is_no_loss),
      WRITES(of_pings_of_a_run_only_the_newest_is_noted),
      WRITES(a_ping_speaks_over_no_batch_that_came_after_it),
      WRITES(a_commit_that_fails_acks_nothing_and_asks_for_nothing),
      WRITES(a_bad_batch_does_not_touch_the_good_ones_of_its_group),
      WRITES(a_batch_over_a_quota_is_refused_in_the_books_and_others_are_stored),
      WRITES(a_batch_that_says_what_cannot_be_is_refused_for_good),
      WRITES(a_refusal_that_cannot_be_put_in_the_books_is_no_refusal),
      WRITES(sizes_over_the_limits_are_refused_as_too_large),
      WRITES(batch_zero_is_refused),
      WRITES(a_hello_is_answered_after_the_batches_before_it),
      WRITES(a_revoked_board_is_refused_and_leaves_no_trace),
      WRITES(decoded_batches_are_held_only_up_to_a_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
