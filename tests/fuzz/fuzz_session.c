/* SPDX-License-Identifier: Apache-2.0 */
/* A whole conversation without a socket: frames, messages, states.

   The first byte selects the peer's role and the workers' behaviour; the rest is the stream, cut
   where the session requests. Jobs return in order, some at once and some late, with outcomes
   chosen by the first byte. Invariants for any input: a session never consumes more than its input
   and never requests more than a frame. It keeps its limit of jobs in flight, sends only frames
   that its own decoder accepts, and reads nothing once closing. */
#include "ingest/session.h"
#include "quota/quota.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
  IS_STRANGER = 1,
  IS_LATE = 2, /* jobs return only at the limit of jobs in flight */
  OUTCOME_SHIFT = 2,
  OUTCOME_MASK = 3,
  IS_WANTING = 16, /* the collector requests two files for batches */
  IS_WHOLE = 32,
  IS_SHEDDING = 64, /* batches get a retry-later answer */
  HAS_QUOTAS = 128, /* of few bytes */
  NOW_NS = 1000000000,
};

struct world {
  struct session session;
  struct figures figures;
  struct job *jobs[LIMIT_IN_FLIGHT + 1];
  unsigned count;
  uint8_t choice;
};

static void check(int holds) {
  if (!holds) abort();
}

/* The session's output must be frames with messages that decode. */
static void check_output(struct session *session) {
  struct span rest = buf_span(&session->out);
  while (rest.len > 0) {
    struct frame frame;
    struct message message;
    struct arena arena;
    char why[64];
    long used = frame_decode(rest, &frame);
    check(used > 0);
    arena_init(&arena, 4 * LIMIT_CONTROL_BYTES);
    check(message_decode(&frame, &arena, &message, why, sizeof why) == 0);
    arena_fini(&arena);
    rest = span_of(rest.data + used, rest.len - (size_t)used);
  }
  buf_clear(&session->out);
}

static void finish_first(struct world *world) {
  static const struct debug_wanted wanted[] = {
      {.id = {(const uint8_t *)"id-1", 4}, .path = "/bin/a"},
      {.id = {(const uint8_t *)"id-2", 4}, .path = "/bin/b"}};
  const struct span id = wanted[0].id; /* as good as a batch's bytes */
  struct job *job = world->jobs[0];
  unsigned outcome = world->choice >> OUTCOME_SHIFT & OUTCOME_MASK;
  if (outcome == JOB_REFUSED) job_refuse(job, REFUSAL_REVOKED, "refused");
  if (outcome == JOB_FAILED) job_fail(job, REFUSAL_STORE, "failed");
  if (job->kind == JOB_BATCH && (world->choice & IS_WANTING) != 0) {
    job->wanted = wanted;
    job->wanted_count = 2;
  }
  if (job->is_kept) prefix_keep(&job->prefix, job->message.batch.run, job->message.batch.seq, id);
  job->is_whole = (world->choice & IS_WHOLE) != 0;
  job->enrolled = (struct enrolled){.board = "b"};
  session_finish(&world->session, job, NOW_NS);
  job_free(job);
  world->count--;
  memmove(world->jobs, world->jobs + 1, world->count * sizeof *world->jobs);
  check_output(&world->session);
}

static void take(struct world *world, struct job *job) {
  if (job == NULL) return;
  world->jobs[world->count++] = job;
  check(world->count <= LIMIT_IN_FLIGHT);
  while (world->count > 0 &&
         ((world->choice & IS_LATE) == 0 || !session_wants_input(&world->session)))
    finish_first(world);
}

/* Lets the session run one step. Returns whether it may run another. */
static int step(struct world *world, struct span *stream) {
  struct session *session = &world->session;
  size_t need = session->need_bytes;
  struct job *job = NULL;
  check(need >= FRAME_HEADER_BYTES && need <= FRAME_HEADER_BYTES + LIMIT_FRAME_BYTES);
  if (!session_wants_input(session) || stream->len < need) return 0;
  long used = session_receive(session, span_of(stream->data, need), NOW_NS, &job);
  check(used <= (long)need && (used >= 0 || session->state == SESSION_CLOSING));
  check(used != 0 || session->need_bytes > need);
  check_output(session);
  take(world, job);
  if (used > 0) *stream = span_of(stream->data + used, stream->len - (size_t)used);
  return used >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static struct world world;
  if (len == 0) return 0;
  struct span stream = span_of(data + 1, len - 1);
  world = (struct world){.choice = data[0]};
  session_init(&world.session, 1, "http://page/", &world.figures);
  const struct quota_limits limits = {.a_day = {[QUOTA_BYTES] = 100, [QUOTA_REFUSALS] = 1}};
  struct shedding shedding = {.shed = SHED_BACKLOG, .retry_after_ms = 5000};
  struct quotas *quotas = (data[0] & HAS_QUOTAS) != 0 ? quotas_new(&limits) : NULL;
  world.session.quotas = quotas;
  if ((data[0] & IS_SHEDDING) != 0) world.session.shedding = &shedding;
  session_start(&world.session, (data[0] & IS_STRANGER) != 0 ? NULL : "edge-1");
  while (step(&world, &stream)) {
  }
  while (world.count > 0) finish_first(&world);
  session_refuse(&world.session, REFUSAL_TIMEOUT, "the end");
  check_output(&world.session);
  check(!session_wants_input(&world.session));
  session_fini(&world.session);
  quotas_free(quotas);
  return 0;
}
