/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol with a board.

     HANDSHAKE -+-> HELLO -> ADMITTING -> OPEN -+-> CLOSING
                |       |                       |
                |       +-> EXPIRED -> RENEWING-+   the certificate has expired
                +-> ENROLL -> ENROLLING --------+

   A frame is checked twice before it is buffered whole: its type against the state, and its length
   (frame.h), both from the five bytes of its header. So an unauthenticated peer can occupy the
   memory of one control frame only. Then the frame is decoded into the arena of a new job, and the
   job is sent to a worker: all disk access happens there. While a worker has a Hello or an Enroll
   nothing is read, so later frames are handled with its result.

   Acks are sent in the order in which the worker finishes, which is the order in which the batches
   arrived. Requests for a batch's modules are sent before that batch's ack, so that a board knows
   at the ack which modules are still needed.

   A batch that cannot be accepted now (shedding.h, or a quota of the board) is answered by a Reject
   with a retry delay. Batches already in transit may still arrive; a board that ignores the delay
   is disconnected.

   A peer's violation ends with session_refuse: one counter, one answer if the protocol has one, and
   CLOSING. A batch with invalid content is different: only that batch is rejected. */
#include "session.h"

#include "common/clock.h"
#include "common/log.h"
#include "patience.h"
#include "quota/quota.h"
#include "trusted_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  HELLO_DEADLINE_MS = 10 * 1000,      /* also of a handshake: several round trips of a slow link */
  WORKER_DEADLINE_MS = 60 * 1000,     /* a worker with a slow disk */
  OPEN_DEADLINE_MS = 5 * 60 * 1000,   /* boards ping far more often */
  CLOSING_DEADLINE_MS = 5 * 1000,     /* for the peer to read the reason */
  EARLY_RETRY_MS = 5 * 1000,          /* while the time is unknown */
  UNHEEDED_MAX = 4 * LIMIT_IN_FLIGHT, /* batches tolerated during a retry delay */
  LENGTH_BYTES = FRAME_HEADER_BYTES - 1,
};

static const char *state_name(enum session_state state) {
  static const char *const names[] = {
      [SESSION_HANDSHAKE] = "handshake", [SESSION_HELLO] = "hello",
      [SESSION_ADMITTING] = "admitting", [SESSION_OPEN] = "open",
      [SESSION_ENROLL] = "enroll",       [SESSION_ENROLLING] = "enrolling",
      [SESSION_EXPIRED] = "expired",     [SESSION_RENEWING] = "renewing",
      [SESSION_CLOSING] = "closing",
  };
  return names[state];
}

unsigned session_deadline_ms(enum session_state state) {
  switch (state) {
  case SESSION_HANDSHAKE:
  case SESSION_HELLO:
  case SESSION_ENROLL:
  case SESSION_EXPIRED:
    return HELLO_DEADLINE_MS;
  case SESSION_ADMITTING:
  case SESSION_RENEWING:
  case SESSION_ENROLLING:
    return WORKER_DEADLINE_MS;
  case SESSION_OPEN:
    return OPEN_DEADLINE_MS;
  case SESSION_CLOSING:
    break;
  }
  return CLOSING_DEADLINE_MS;
}

static void set_state(struct session *session, enum session_state state) {
  log_debug("ingest-state %s #%llu: %s -> %s", session->board[0] ? session->board : "stranger",
            (unsigned long long)session->id, state_name(session->state), state_name(state));
  session->state = state;
}

static void send_message(struct session *session, const struct message *message) {
  if (message_encode(message, &session->out) != 0 && session->state != SESSION_CLOSING)
    set_state(session, SESSION_CLOSING); /* no memory for an answer: the peer will reconnect */
}

void session_init(struct session *session, uint64_t id, const char *page_url,
                  struct figures *figures) {
  *session = (struct session){
      .id = id, .page_url = page_url, .figures = figures, .need_bytes = FRAME_HEADER_BYTES};
}

void session_fini(struct session *session) {
  wanted_fini(&session->wanted);
  prefix_forget(&session->prefix);
  free(session->earlier);
  buf_fini(&session->out);
}

void session_start(struct session *session, const char *board) {
  if (board != NULL) snprintf(session->board, sizeof session->board, "%s", board);
  set_state(session, board != NULL ? SESSION_HELLO : SESSION_ENROLL);
}

bool session_wants_input(const struct session *session) {
  bool is_reading = session->state == SESSION_HELLO || session->state == SESSION_OPEN ||
                    session->state == SESSION_ENROLL || session->state == SESSION_EXPIRED;
  return is_reading && session->jobs_in_flight < LIMIT_IN_FLIGHT;
}

static bool is_permanent(enum refusal refusal) {
  return refusal == REFUSAL_REVOKED || refusal == REFUSAL_SUPERSEDED ||
         refusal == REFUSAL_WRONG_VERSION;
}

void session_refuse(struct session *session, enum refusal refusal, const char *why) {
  if (session->state == SESSION_CLOSING) return;
  enum session_state before = session->state;
  figures_add(&session->figures->refused[refusal], 1);
  log_debug("ingest-refused %s #%llu: %s: %s", session->board[0] ? session->board : "stranger",
            (unsigned long long)session->id, figures_refusal_name(refusal), why);
  session->refusal = refusal;
  session->was_refused = true;
  if (why != session->why) snprintf(session->why, sizeof session->why, "%s", why);
  set_state(session, SESSION_CLOSING);
  struct message answer = {.type = FRAME_REJECT};
  if (before == SESSION_ENROLL || before == SESSION_ENROLLING) {
    answer.type = FRAME_ENROLLED;
    answer.enrolled = (struct enrolled){.error = session->why};
  } else {
    answer.reject = (struct reject){.reason = session->why,
                                    .permanent = is_permanent(refusal),
                                    .retry_after_ms = patience_refusal_ms(refusal)};
  }
  if (before != SESSION_HANDSHAKE) send_message(session, &answer);
}

static bool is_expected(enum session_state state, uint8_t type) {
  switch (state) {
  case SESSION_HELLO:
    return type == FRAME_HELLO;
  case SESSION_ENROLL:
    return type == FRAME_ENROLL;
  case SESSION_OPEN:
    return type == FRAME_BATCH || type == FRAME_PING || type == FRAME_DEBUG_CHUNK ||
           type == FRAME_DEBUG_END || type == FRAME_RENEW;
  case SESSION_EXPIRED:
    return type == FRAME_RENEW;
  default:
    return false;
  }
}

static long refuse_frame(struct session *session, enum refusal refusal, unsigned type) {
  snprintf(session->why, sizeof session->why, "%s: frame of type %u in state %s",
           figures_refusal_name(refusal), type, state_name(session->state));
  session_refuse(session, refusal, session->why);
  return -1;
}

/* The header is complete but its frame is not: sets the frame's length, or refuses the frame. */
static long await_frame(struct session *session, struct span stream) {
  size_t len = 0;
  if (stream.len < FRAME_HEADER_BYTES) return 0;
  if (!is_expected(session->state, stream.data[LENGTH_BYTES]))
    return refuse_frame(session, REFUSAL_WRONG_ORDER, stream.data[LENGTH_BYTES]);
  for (int i = 0; i < LENGTH_BYTES; i++) len = len << 8 | stream.data[i];
  session->need_bytes = FRAME_HEADER_BYTES + len;
  return 0;
}

static enum job_kind kind_of(enum frame_type type) {
  switch (type) {
  case FRAME_HELLO:
    return JOB_HELLO;
  case FRAME_BATCH:
    return JOB_BATCH;
  case FRAME_ENROLL:
    return JOB_ENROLL;
  case FRAME_RENEW:
    return JOB_RENEW;
  case FRAME_DEBUG_CHUNK:
    return JOB_DEBUG_CHUNK;
  case FRAME_DEBUG_END:
    return JOB_DEBUG_END;
  default:
    return JOB_PING;
  }
}

static bool is_version_spoken(struct session *session, uint32_t version) {
  session->version = version;
  if (version > 0 && version <= LIMIT_PROTOCOL_VERSION) return true;
  snprintf(session->why, sizeof session->why,
           "protocol version %u is not spoken here; this collector speaks 1 to %d", version,
           LIMIT_PROTOCOL_VERSION);
  session_refuse(session, REFUSAL_WRONG_VERSION, session->why);
  return false;
}

/* Returns the reconnect spread if it is news to this board; else 0. */
static uint32_t return_news(struct session *session) {
  if (session->return_within_ms == NULL) return 0;
  if (!patience_is_news(session->told_return_ms, *session->return_within_ms)) return 0;
  return session->told_return_ms = *session->return_within_ms;
}

/* Returns the time for the board of SESSION if the collector's clock shows NOW_NS. */
static uint64_t time_of(const struct session *session, uint64_t now_ns) {
  return placement_now(&session->placement, now_ns, clock_boottime_ns());
}

/* Records an admitted board's clock as evidence of the time. */
static void hear_clock(struct session *session) {
  if (session->time == NULL) return;
  trusted_time_hear(session->time, session->board, session->placement.board_ns,
                    session->placement.our_ns);
}

/* The board plans its renewal again when it is told the CA's certificates: it renews at once if its
   certificate is of the future, as when the collector's clock was set back in this session. */
static uint64_t trust_news(struct session *session, uint64_t now_ns) {
  if (session->trust == NULL) return 0;
  bool is_ahead = now_ns >= CLOCK_PLAUSIBLE_NS &&
                  session->certificate.signed_s > (int64_t)(now_ns / NS_PER_SECOND);
  bool is_news = *session->trust != session->told_trust || (is_ahead && !session->is_told_ahead);
  session->is_told_ahead = is_ahead;
  return is_news ? session->told_trust = *session->trust : 0;
}

static bool receive_ping(struct session *session, const struct ping *ping, uint64_t now_ns) {
  struct message answer = {.type = FRAME_PONG, .pong = {.walltime_ns = now_ns}};
  answer.pong.trust = trust_news(session, now_ns);
  answer.pong.return_within_ms = return_news(session);
  send_message(session, &answer);
  placement_relearn(&session->placement, ping, now_ns, clock_boottime_ns());
  hear_clock(session);
  return session->state == SESSION_OPEN;
}

static void send_welcome(struct session *session, uint64_t now_ns, uint64_t last_seq) {
  session->told_trust = session->trust != NULL ? *session->trust : 0;
  struct message welcome = {.type = FRAME_WELCOME,
                            .welcome = {.version = session->version,
                                        .walltime_ns = now_ns,
                                        .last_seq = last_seq,
                                        .page_url = session->page_url,
                                        .batch_bytes_max = LIMIT_BATCH_ZSTD_BYTES,
                                        .prefix_bytes_max = LIMIT_PREFIX_BYTES,
                                        .trust = session->told_trust,
                                        .return_within_ms = return_news(session),
                                        .renew_only = session->state == SESSION_EXPIRED}};
  send_message(session, &welcome);
}

/* Needs no worker yet: the board is checked when it sends its request. */
static void receive_expired(struct session *session, const struct hello *hello, uint64_t now_ns) {
  if ((hello->capabilities & CAPABILITY_RENEWAL) == 0) {
    session_refuse(session, REFUSAL_EXPIRED,
                   "the certificate has expired, and this version cannot renew it: enroll again");
    return;
  }
  set_state(session, SESSION_EXPIRED);
  send_welcome(session, now_ns, 0);
}

static bool has_memory(struct session *session) {
  if (session->shedding == NULL || session->shedding->shed != SHED_MEMORY) return true;
  session_refuse(session, REFUSAL_OVERLOADED, "the collector has no memory for another board now");
  return false;
}

/* If memory is out, earlier boots are placed by their own wall clocks. */
static void learn_earlier(struct session *session, const struct hello *hello, uint64_t now_ns) {
  if (hello->boot_count == 0) return;
  session->earlier = calloc(hello->boot_count, sizeof *session->earlier);
  if (session->earlier == NULL) return;
  placement_earlier(&session->placement, hello, now_ns, session->earlier);
  session->placement.earlier = session->earlier;
  session->placement.earlier_count = hello->boot_count;
}

static bool receive_hello(struct session *session, const struct hello *hello, uint64_t now_ns) {
  if (!is_version_spoken(session, hello->version) || !has_memory(session)) return false;
  if (session->certificate.has_expired) {
    receive_expired(session, hello, now_ns);
    return false;
  }
  placement_learn(&session->placement, hello, now_ns, clock_boottime_ns());
  learn_earlier(session, hello, time_of(session, now_ns));
  session->keeps_prefix = (hello->capabilities & CAPABILITY_PREFIX) != 0;
  set_state(session, SESSION_ADMITTING);
  return true;
}

/* Returns whether the batch named in REJECT can be accepted now; else sets the reason and the
   delay. */
static bool has_place(struct session *session, size_t bytes, struct reject *reject) {
  const struct shedding *shedding = session->shedding;
  const struct placement *placement = &session->placement;
  struct quota_verdict verdict;
  if (session->time != NULL && trusted_time_is_early(session->time, placement->board_ns,
                                                     placement->learnt_ns, clock_boottime_ns())) {
    reject->retry_after_ms = EARLY_RETRY_MS;
    snprintf(session->why, sizeof session->why,
             "this board and the collector, which has just started, differ about the time: keep it "
             "until others have said it");
    return false;
  }
  if (shedding != NULL && shedding->shed != SHED_NOTHING) {
    figures_add(&session->figures->shed[shedding->shed], 1);
    reject->retry_after_ms = shedding->retry_after_ms;
    snprintf(session->why, sizeof session->why, "the collector is behind (%s): keep it for now",
             shedding_name(shedding->shed));
    return false;
  }
  if (session->quotas == NULL ||
      quotas_take_bytes(session->quotas, session->board, bytes, clock_monotonic_ns(), &verdict))
    return true;
  reject->retry_after_ms = verdict.retry_after_ms;
  snprintf(session->why, sizeof session->why,
           "this board's quota of %s is used up: keep it for now", quota_name(verdict.quota));
  return false;
}

/* Returns whether the board ignores the delay RETRY_AFTER_MS. */
static bool is_heedless(struct session *session, uint32_t retry_after_ms, uint64_t now_ns) {
  bool is_over = now_ns - session->unheeded_ns > retry_after_ms * NS_PER_MS;
  if (session->unheeded == 0 || is_over) session->unheeded_ns = now_ns;
  if (is_over) session->unheeded = 0;
  return ++session->unheeded > UNHEEDED_MAX;
}

/* Returns whether the batch that BATCH refers to is here. A board refers only to the last batch
   that this connection has acked, with no other batch in transit. But the collector may have had no
   memory to keep it. */
static bool has_prefix(const struct session *session, const struct envelope *batch) {
  const struct prefix *prefix = &session->prefix;
  return batch->after == 0 || (batch->run == prefix->run && batch->after == prefix->seq);
}

/* Rejects a batch with an unknown reference; the board then sends it again without a reference. A
   second one in a row ends the session. */
static void ask_for_all_of_it(struct session *session, const struct message *reject) {
  snprintf(session->why, sizeof session->why,
           "a batch refers to one that is not the last of this connection");
  if (session->is_unmatched)
    session_refuse(session, REFUSAL_WRONG_ORDER, session->why);
  else
    send_message(session, reject);
  session->is_unmatched = true;
}

static bool receive_batch(struct session *session, const struct envelope *batch, uint64_t now_ns) {
  struct message answer = {.type = FRAME_REJECT};
  answer.reject = (struct reject){.run = batch->run, .seq = batch->seq, .reason = session->why};
  if (!has_prefix(session, batch)) {
    ask_for_all_of_it(session, &answer);
    return false;
  }
  session->is_unmatched = false;
  if (has_place(session, batch->zstd.len, &answer.reject)) return true;
  if (is_heedless(session, answer.reject.retry_after_ms, now_ns))
    session_refuse(session, REFUSAL_IMPATIENT, "this board sends batches although told to wait");
  else
    send_message(session, &answer);
  return false;
}

/* Returns whether file ID was requested, so that a piece, or its end, is expected. */
static bool is_asked_for(struct session *session, struct span id) {
  if (wanted_has(&session->wanted, id)) return true;
  figures_add(&session->figures->refused[REFUSAL_DEBUG_UNASKED], 1);
  return false;
}

/* Processes the decoded message. Returns whether a worker must handle it. */
static bool receive_message(struct session *session, const struct message *message,
                            uint64_t now_ns) {
  switch (message->type) {
  case FRAME_HELLO:
    return receive_hello(session, &message->hello, now_ns);
  case FRAME_ENROLL:
    if (!is_version_spoken(session, message->enroll.version)) return false;
    set_state(session, SESSION_ENROLLING);
    return true;
  case FRAME_RENEW:
    if (session->state == SESSION_EXPIRED) set_state(session, SESSION_RENEWING);
    return true;
  case FRAME_BATCH:
    return receive_batch(session, &message->batch, now_ns);
  case FRAME_PING:
    return receive_ping(session, &message->ping, now_ns);
  case FRAME_DEBUG_CHUNK:
    return is_asked_for(session, message->debug_chunk.id);
  case FRAME_DEBUG_END:
    return is_asked_for(session, message->debug_end.id);
  default:
    return true;
  }
}

static int decode(struct session *session, const struct frame *frame, struct job *job) {
  int result = message_decode(frame, &job->arena, &job->message, session->why, sizeof session->why);
  if (result == -ENOMEM)
    session_refuse(session, REFUSAL_MEMORY, "the collector is out of memory");
  else if (result != 0)
    session_refuse(session, REFUSAL_BAD_MESSAGE, session->why);
  return result;
}

/* The session may end before the worker handles JOB, so a batch gets its own copy of the earlier
   boots. */
static void give_placement(const struct session *session, struct job *job) {
  size_t bytes = session->placement.earlier_count * sizeof *session->earlier;
  job->placement = session->placement;
  job->placement.earlier = NULL;
  if (bytes > 0 && job->kind == JOB_BATCH) {
    struct earlier_boot *copy =
        arena_array(&job->arena, session->placement.earlier_count, sizeof *copy);
    if (copy != NULL) memcpy(copy, session->earlier, bytes);
    job->placement.earlier = copy;
  }
  if (job->placement.earlier == NULL) job->placement.earlier_count = 0;
}

/* Moves the prefix: while JOB is away no other batch can refer to it. */
static void give_prefix(struct session *session, struct job *job) {
  if (job->kind != JOB_BATCH) return;
  job->is_kept = session->keeps_prefix;
  if (job->message.batch.after == 0) return;
  job->prefix = session->prefix;
  session->prefix = (struct prefix){0};
}

static long receive_frame(struct session *session, const struct frame *frame, uint64_t now_ns,
                          struct job **ret_job) {
  struct job *job = job_new(kind_of(frame->type));
  if (job == NULL) {
    session_refuse(session, REFUSAL_MEMORY, "the collector is out of memory");
    return -1;
  }
  if (decode(session, frame, job) != 0 || !receive_message(session, &job->message, now_ns)) {
    job_free(job);
    return session->state == SESSION_CLOSING ? -1 : 0;
  }
  now_ns = time_of(session, now_ns); /* may have improved after a Hello */
  placement_follow(&session->placement, now_ns, clock_boottime_ns());
  give_placement(session, job);
  give_prefix(session, job);
  job->session = session->id;
  job->certificate = session->certificate;
  job->received_ns = now_ns;
  snprintf(job->board, sizeof job->board, "%s", session->board);
  session->jobs_in_flight++;
  *ret_job = job;
  return 0;
}

long session_receive(struct session *session, struct span stream, uint64_t now_ns,
                     struct job **ret_job) {
  struct frame frame;
  *ret_job = NULL;
  now_ns = time_of(session, now_ns);
  long len = frame_decode(stream, &frame);
  if (len == -EAGAIN) return await_frame(session, stream);
  if (len < 0) {
    uint8_t type = stream.data[LENGTH_BYTES];
    return refuse_frame(session, len == -EOVERFLOW ? REFUSAL_FRAME_TOO_LONG : REFUSAL_BAD_FRAME,
                        type);
  }
  if (!is_expected(session->state, (uint8_t)frame.type))
    return refuse_frame(session, REFUSAL_WRONG_ORDER, frame.type);
  session->need_bytes = FRAME_HEADER_BYTES;
  return receive_frame(session, &frame, now_ns, ret_job) < 0 ? -1 : len;
}

static void ask_for(struct session *session, const struct debug_wanted *wanted) {
  struct message message = {.type = FRAME_DEBUG_WANTED, .debug_wanted = *wanted};
  if (wanted_add(&session->wanted, wanted->id) != 0) return; /* requested already, or too many */
  figures_add(&session->figures->debug_asked_total, 1);
  send_message(session, &message);
}

static void ask_for_all(struct session *session, const struct job *job) {
  for (uint32_t i = 0; i < job->wanted_count; i++) ask_for(session, &job->wanted[i]);
}

static void finish_hello(struct session *session, const struct job *job, uint64_t now_ns) {
  if (job->outcome != JOB_DONE) {
    session_refuse(session, job->refusal, job->why);
    return;
  }
  set_state(session, SESSION_OPEN);
  session->certificate.is_used = true;
  hear_clock(session);
  send_welcome(session, now_ns, job->last_seq);
  ask_for_all(session, job);
}

/* If renewal fails, the session continues: the present certificate is still valid. */
static void finish_renew(struct session *session, const struct job *job) {
  struct message answer = {.type = FRAME_RENEWED, .renewed = job->renewed};
  if (job->outcome != JOB_DONE) {
    figures_add(&session->figures->refused[job->refusal], 1);
    answer.renewed = (struct renewed){.error = job->why};
  }
  if (session->state == SESSION_RENEWING) set_state(session, SESSION_CLOSING);
  send_message(session, &answer);
}

static void finish_enroll(struct session *session, const struct job *job) {
  if (job->outcome != JOB_DONE) {
    session_refuse(session, job->refusal, job->why);
    return;
  }
  struct message answer = {.type = FRAME_ENROLLED, .enrolled = job->enrolled};
  set_state(session, SESSION_CLOSING);
  send_message(session, &answer);
}

static void finish_batch(struct session *session, struct job *job) {
  uint64_t run = job->message.batch.run, seq = job->message.batch.seq;
  struct message answer = {.type = FRAME_ACK, .ack = {.run = run, .seq = seq}};
  ask_for_all(session, job);
  if (job->outcome != JOB_DONE) {
    answer.type = FRAME_REJECT;
    answer.reject = (struct reject){.run = run,
                                    .seq = seq,
                                    .reason = job->why,
                                    .permanent = job->outcome == JOB_REFUSED,
                                    .over_quota = job->refusal == REFUSAL_QUOTA,
                                    .retry_after_ms = patience_batch_ms(0)};
    figures_add(&session->figures->refused[job->refusal], 1);
  } else if (job->is_kept) {
    prefix_forget(&session->prefix);
    session->prefix = job->prefix;
    job->prefix = (struct prefix){0};
  }
  send_message(session, &answer);
}

/* A file is finished when it is complete, or when a piece was refused. In both cases the board is
   notified. */
static void finish_chunk(struct session *session, const struct job *job) {
  if (job->outcome == JOB_DONE && !job->is_whole) return;
  if (job->outcome != JOB_DONE) figures_add(&session->figures->refused[job->refusal], 1);
  struct message answer = {.type = FRAME_DEBUG_END,
                           .debug_end = {.id = job->message.debug_chunk.id, .reason = job->why}};
  if (wanted_remove(&session->wanted, job->message.debug_chunk.id)) send_message(session, &answer);
}

void session_finish(struct session *session, struct job *job, uint64_t now_ns) {
  session->jobs_in_flight--;
  if (session->state == SESSION_CLOSING) return;
  now_ns = time_of(session, now_ns);
  switch (job->kind) {
  case JOB_HELLO:
    finish_hello(session, job, now_ns);
    break;
  case JOB_ENROLL:
    finish_enroll(session, job);
    break;
  case JOB_RENEW:
    finish_renew(session, job);
    break;
  case JOB_BATCH:
    finish_batch(session, job);
    break;
  case JOB_DEBUG_CHUNK:
    finish_chunk(session, job);
    break;
  case JOB_DEBUG_END: /* only now: until the store has the file, batches would request it again */
    wanted_remove(&session->wanted, job->message.debug_end.id);
    break;
  case JOB_PING:
    ask_for_all(session, job);
    break;
  case JOB_REVOCATIONS:
    break;
  }
}
